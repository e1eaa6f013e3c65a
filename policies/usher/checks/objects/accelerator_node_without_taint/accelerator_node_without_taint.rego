# METADATA
# title: Accelerator nodes have a taint
# description: |
#   Without a taint, other pods can run on the node. They fill its CPUs and memory, and its GPUs are idle because no GPU
#   pod fits. NVIDIA's operator and device plugin do not taint nodes; some clouds do. A taint with effect
#   PreferNoSchedule does not keep pods off. Kubernetes adds and removes its own taints for broken or cordoned nodes, so
#   they do not count. A cluster with only GPU nodes needs no taint. The check counts accelerators with names that usher
#   knows without usher.yaml. It also reads NodePools of Karpenter that allow only machines with accelerators: without a taint,
#   Karpenter adds a machine with GPUs for any pod.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#example-use-cases
#     description: Kubernetes on nodes with special hardware
# schemas:
#   - input: schema.input
# custom:
#   code: USH1430
#   about: objects
#   kinds: [node, nodePool]
#   severity: low
#   why: Any pod may fill the node, and its GPUs are idle.
#   closes: [B19, S4]
#   remediation: |
#     Taint the nodes of the pool where the pool is defined, so that new nodes have the taint too. Most tools expect
#     `nvidia.com/gpu=present:NoSchedule`.
package usher.checks.objects.accelerator_node_without_taint

deny contains finding if {
	names := sort([name | some name, amount in input.object.node.status.capacity; amount.value > 0])
	names != []
	not _guarded

	finding := {
		"path": "/spec/taints",
		"message": $"the node has {concat(" and ", names)}, but no taint that keeps other pods off",
		"remedy": $"taint the nodes of this pool, for example with {_key(names)}=present:NoSchedule",
	}
}

deny contains finding if {
	spec := input.object.nodePool.spec.template.spec
	_only_accelerators(spec)
	not _guards(object.get(spec, "taints", []))

	finding := {
		"path": "/spec/template/spec/taints",
		"message": $"the NodePool allows only machines with {_devices(spec)[0]}, but has no taint that keeps other pods off",
		"remedy": $"taint its nodes, for example with {_devices(spec)[1]}=present:NoSchedule",
	}
}

_guards(taints) if {
	some taint in taints
	taint.effect in ["NoSchedule", "NoExecute"]
}

_only_accelerators(spec) if {
	some requirement in spec.requirements
	requirement.operator in ["In", "Exists", "Gt"]
	regex.match(`^(karpenter\.k8s\.aws|eks\.amazonaws\.com)/instance-(gpu|accelerator)-|^karpenter\.azure\.com/sku-gpu-|^karpenter\.k8s\.gcp/instance-gpu-`, requirement.key)
}

_only_accelerators(spec) if {
	some requirement in spec.requirements
	requirement.operator == "In"
	requirement.key in ["node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family", "eks.amazonaws.com/instance-family"]
	count(requirement.values) > 0
	every value in requirement.values {
		regex.match(`^(g[4-9]|p[2-9]|trn|inf)[a-z0-9-]*(\.|$)|^Standard_(NC|ND|NV)|^(a[2-4]x?|g[24])-`, value)
	}
}

_devices(spec) := ["Neuron devices", "aws.amazon.com/neuron"] if _has_neuron(spec)

_devices(spec) := ["GPUs", "nvidia.com/gpu"] if not _has_neuron(spec)

_has_neuron(spec) if {
	some requirement in spec.requirements
	some value in requirement.values
	regex.match(`^(trn|inf)[0-9]`, value)
}

# The GPU operator knows its nodes by this key, whatever MIG devices they offer.
_key(names) := "nvidia.com/gpu" if startswith(names[0], "nvidia.com/")

_key(names) := names[0] if not startswith(names[0], "nvidia.com/")

_guarded if {
	some taint in input.object.node.spec.taints
	taint.effect in ["NoSchedule", "NoExecute"]
	not _passes(taint.key)
}

_passes(key) if {
	some prefix in ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/"]
	startswith(key, prefix)
}

_passes(key) if endswith(key, "ByClusterAutoscaler")
