# METADATA
# title: A container's GPUs fit in one NUMA node where the kubelet requires it
# description: |
#   With the Topology Manager policy single-numa-node, a kubelet takes all devices and CPUs of a container from one NUMA
#   node. If that is not possible, it refuses the container (TopologyAffinityError): the pod is bound, fails, and its
#   controller makes the next one. The scheduler does not know about the policy. No object of the cluster shows the
#   policy, so usher.yaml declares it: gpu.perNumaNode of a pool. The check finds a container that asks for more GPUs
#   than this, wherever its pod fits.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/topology-manager/
#     description: Kubernetes on the Topology Manager and its policies
# schemas:
#   - input: schema.input
# custom:
#   code: USH332
#   about: cluster facts
#   severity: medium
#   why: Each pod is bound to a node that refuses it, again and again.
#   closes: [S45]
#   remediation: |
#     Ask for at most as many GPUs per container as one NUMA node has. Or run these pods on a pool whose kubelets use
#     the policy best-effort or restricted.
package usher.checks.placement.gpus_across_numa_nodes

import data.usher.lib.nodes
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	crowded := nodes.of(pod_set).crowded

	finding := {
		"path": pod_set.specPath,
		"message": $"a container of {workload.pod_set_name(pod_set)} asks for {crowded.asked} GPUs, but the kubelets of {crowded.place} refuse more than the {crowded.most} GPUs of one NUMA node",
		"remedy": $"ask for at most {crowded.most} GPUs per container, or select a pool without the policy single-numa-node",
	}
}
