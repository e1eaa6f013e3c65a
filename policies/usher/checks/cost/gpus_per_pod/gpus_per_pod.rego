# METADATA
# title: A pod asks for at most the maximum number of GPUs
# description: |
#   All devices of a pod come from one node, and hardly any node has more than 16. A pod that asks for more waits for
#   ever, together with its gang. The usual cause is a total for the whole job in the place of the number for one pod. A
#   site may lower the maximum to the size of its nodes.
#   The check counts whole accelerators, by resources and device claims, at the most that one pod can ask for. It does
#   not count slices and shares, also not on nodes that give shares the name of whole GPUs. It skips objects that a controller made, because usher judges their owner.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on asking for GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH1302
#   about: accelerator pods
#   severity: medium
#   why: No node can give a pod this many accelerators, so the pod and its job wait forever.
#   closes: [S47]
#   parameters:
#     maximum:
#       default: 16
#       description: Maximum number of whole accelerators that one pod may ask for.
#   remediation: |
#     Spread the accelerators over several pods, or ask an administrator to raise the maximum of the namespace in
#     usher.yaml (parameters, gpus-per-pod, maximum).
package usher.checks.cost.gpus_per_pod

import data.usher.lib.amounts
import data.usher.lib.parameters
import data.usher.lib.sharing
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	asked := amounts.whole_devices(pod_set)
	asked > _maximum
	not sharing.shared_nodes(pod_set)

	finding := {
		"path": pod_set.path,
		"message": $"{_name(pod_set)} asks for {amounts.number_of(asked, "accelerator", "accelerators")}, more than the maximum of {_maximum} for one pod",
		"remedy": $"ask for at most {_maximum} in each pod, and use more pods",
	}
}

_maximum := parameters.cost.gpus_per_pod.maximum

_name(pod_set) := "the pod" if pod_set.name == ""

_name(pod_set) := $"each pod of {pod_set.name}" if pod_set.name != ""
