# METADATA
# title: The GPUs of a container come from one NUMA node where kubelets insist on it
# description: |
#   A kubelet whose Topology Manager has the policy single-numa-node refuses a container whose devices and CPUs do not
#   come from one NUMA node (TopologyAffinityError): the pod is bound, fails, and its controller makes the next one. The
#   scheduler knows nothing of it. No object of the cluster tells the policy, so usher.yaml does: gpu.perNumaNode of a
#   pool. Found is a container that asks for more wherever its pod fits.
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
#   why: Every pod is bound to a node that refuses it, again and again.
#   closes: [S45]
#   remediation: |
#     Ask for as many GPUs per container as one NUMA node has, or run such pods on a pool whose kubelets have the policy
#     best-effort or restricted.
package usher.checks.placement.gpus_across_numa_nodes

import data.usher.lib.nodes
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	crowded := nodes.of(pod_set).crowded

	finding := {
		"path": pod_set.specPath,
		"message": $"a container of {workload.pod_set_name(pod_set)} asks for {crowded.asked} GPUs, and the kubelets of {crowded.place} refuse more than the {crowded.most} of one NUMA node",
		"remedy": $"ask for {crowded.most} GPUs per container at most, or for a pool without the policy single-numa-node",
	}
}
