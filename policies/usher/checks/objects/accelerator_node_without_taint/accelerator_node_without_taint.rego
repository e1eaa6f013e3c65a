# METADATA
# title: Accelerator nodes are tainted
# description: |
#   Nothing keeps other pods off a node without a taint: they fill its CPUs and memory, and its GPUs stand idle because
#   no pod that wants them fits. NVIDIA's operator and device plugin taint no nodes; some clouds do. A taint with effect
#   PreferNoSchedule keeps nobody off, and the taints by which Kubernetes marks a node that is broken or cordoned come and
#   go. A cluster of which every node has GPUs needs no taint. Accelerators count under the names that are known without
#   usher.yaml.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#example-use-cases
#     description: Kubernetes on nodes with special hardware
# schemas:
#   - input: schema.input
# custom:
#   code: USH1430
#   about: objects
#   kinds: [node]
#   severity: low
#   why: Any pod may fill the node, and its GPUs stand idle.
#   closes: [B19, S4]
#   remediation: |
#     Taint the nodes of the pool, best where the pool is made, so that new nodes have the taint as well:
#     `nvidia.com/gpu=present:NoSchedule` is what most tools expect.
package usher.checks.objects.accelerator_node_without_taint

deny contains finding if {
	names := sort([name | some name, amount in input.object.node.status.capacity; amount.value > 0])
	names != []
	not _guarded

	finding := {
		"path": "/spec/taints",
		"message": $"the node has {concat(" and ", names)}, and no taint keeps off pods that do not need it",
		"remedy": "taint the nodes of this pool, for instance with nvidia.com/gpu=present:NoSchedule",
	}
}

_guarded if {
	some taint in input.object.node.spec.taints
	taint.effect in {"NoSchedule", "NoExecute"}
	not _passes(taint.key)
}

_passes(key) if {
	some prefix in ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/"]
	startswith(key, prefix)
}

_passes(key) if endswith(key, "ByClusterAutoscaler")
