# METADATA
# title: Training pods have guaranteed cpu and memory
# description: |
#   A pod has the QoS class Guaranteed only if requests and limits of cpu and memory are equal in all its containers.
#   Init containers and sidecars count too. Kubernetes evicts a Guaranteed pod last. Kubelets with the policies static
#   and single-numa-node place its cores beside its GPUs. One exporter without a limit makes the whole pod lose this. If
#   the pod as a whole asks for resources (`spec.resources`), only those decide. Another check finds containers with
#   accelerators that do not ask for cpu or memory.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
#     description: Kubernetes on QoS classes
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/topology-manager/
#     description: Kubernetes on cores and devices of one NUMA node
# schemas:
#   - input: schema.input
# custom:
#   code: USH106
#   about: accelerator pods
#   severity: low
#   strict_only: On nodes with room a training pod runs well without the class Guaranteed.
#   why: Other pods on the node can evict a training run or take its cores.
#   closes: [S13, B22, B23]
#   remediation: |
#     In every container, set requests and limits of cpu and memory to the same amounts, or set only limits. Or set
#     limits for the pod as a whole in `spec.resources`.
package usher.checks.resources.guaranteed_training_pods

import data.usher.lib.amounts
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	not _as_a_whole(pod_set)
	some container in pod_set.containers
	container.type != "ephemeral container"
	reasons := [reason |
		some name in ["cpu", "memory"]
		reason := _reason(container, name)
	]
	reasons != []

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} has {concat(" and ", reasons)}, so its pod is not Guaranteed",
		"remedy": "set requests and limits of cpu and memory to the same amounts",
	}
}

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	_as_a_whole(pod_set)
	reasons := [reason |
		some name in ["cpu", "memory"]
		reason := _difference(name, _of_whole_pod(pod_set, name))
	]
	reasons != []

	finding := {
		"path": workload.field_path(pod_set, "resources"),
		"message": $"the resources of {workload.pod_set_name(pod_set)} as a whole have {concat(" and ", reasons)}, so it is not Guaranteed",
		"remedy": "set limits of cpu and memory there, and equal requests or no requests",
	}
}

_as_a_whole(pod_set) if pod_set.podRequests

_as_a_whole(pod_set) if pod_set.podLimits

_of_whole_pod(pod_set, name) := {list: amounts_of_list[name] |
	some list, amounts_of_list in {
		"requests": object.get(pod_set, "podRequests", {}),
		"limits": object.get(pod_set, "podLimits", {}),
	}
}

_reason(container, name) := _difference(name, container.resources[name])

_reason(container, name) := $"no limit of {name}" if {
	not container.resources[name]
	not container.asksAccelerators
}

_difference(name, resource) := $"no limit of {name}" if not resource.limits

_difference(name, resource) := $"a limit of {amounts.shown(name, resource.limits)} {name} but a request of {amounts.shown(name, resource.requests)}" if {
	resource.requests.text != resource.limits.text
}
