# METADATA
# title: Give pods time for their last checkpoint
# description: |
#   Kubernetes gives a pod 30 seconds to stop. That is too little to write the checkpoint of a large model, so each
#   eviction costs the work since the last one. `lifecycle` of usher.yaml can set a longer grace period, and a preStop
#   hook that tells the program to write a checkpoint, by namespace, role, kind and size. Without an entry for the
#   workload this mutation does nothing.
#   The webhook sets the grace period of pods with accelerators that leave it at the default. It never goes above the
#   parameter maximumSeconds of leaves-too-late. It adds the hook to containers with accelerators that have no preStop
#   hook. It adds no hook if the grace period would end before the hook does, or if the hook waits longer than
#   leaves-too-late allows. A signal goes to process 1, so pods that share their processes, or those of the node, get no
#   signal. Nor do pods of Ray and ranks that sshd starts: their process 1 is not the program and outlives it.
#   Pods that select spot machines keep the default, because a cloud takes these back after 30 to 120 seconds.
#   It skips objects that a controller made, because their owner has the values. It skips kinds whose pod specs their
#   controller or another API restricts: Knative and KServe refuse the fields, and Argo, Tekton and Spark write the pods
#   themselves.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
#     description: Kubernetes on the end of pods
#   - ref: https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/
#     description: Kubernetes on hooks of containers
# schemas:
#   - input: schema.input
# custom:
#   code: USM602
#   order: 86
#   about: accelerator pods
package usher.mutations.priority.termination_grace

import data.usher.lib.parameters
import data.usher.lib.workload

intents contains intent if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	not _why_no_grace(pod_set)

	intent := {
		"at": pod_set.path,
		"field": "gracePeriod",
		"value": _value,
		"reason": "usher.yaml gives these pods time to write a checkpoint before they stop",
	}
}

intents contains intent if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	not _why_no_hook(pod_set)
	some container in pod_set.containers
	_takes_hook(container)

	intent := {
		"at": container.path,
		"field": "preStop",
		"value": {"command": _site.preStop},
		"reason": "usher.yaml has this container told to write a checkpoint before it stops",
	}
}

_site := input.site.lifecycle

_default := 30

_grace := min([_site.grace, parameters.priority.leaves_too_late.maximumSeconds])

# The API server writes its default into objects of its own kinds before webhooks see them.
_value := {"seconds": _grace, "instead": _default} if _writes_default

_value := {"seconds": _grace} if not _writes_default

_writes_default if input.workload.group in ["", "apps", "batch"]

_takes_hook(container) if {
	container.type == "container"
	container.asksAccelerators
	not container.lifecycle.preStop
}

_whole_templates := [
	"",
	"apps",
	"batch",
	"batch.volcano.sh",
	"flow.volcano.sh",
	"jobset.x-k8s.io",
	"keda.sh",
	"kubeflow.org",
	"leaderworkerset.x-k8s.io",
	"ray.io",
]

_why_not := "lifecycle of usher.yaml gives these pods neither a grace period nor a hook" if {
	not _site.grace
	not _site.preStop
} else := "a controller made this object, and its owner has the values" if {
	input.workload.owned
} else := $"the controller of {input.workload.kind} writes or restricts this part of its pods" if {
	not input.workload.group in _whole_templates
}

_why_no_grace(pod_set) := "lifecycle of usher.yaml gives these pods no grace period" if not _site.grace

else := "the parameter maximumSeconds of leaves-too-late allows no more than the default" if _grace <= _default

else := "a change to this template would not reach its pods" if not pod_set.changeable

else := $"the author chose a grace period of {pod_set.terminationGracePeriodSeconds} seconds" if {
	not _is_default(pod_set)
}

else := "its nodes are spot machines, which a cloud takes back sooner" if {
	some key, value in pod_set.nodeSelector
	key in _spot_labels
	lower(value) in ["spot", "true"]
}

# The cloud gives 30 seconds (Google, Azure) or 120 (AWS); their documents on spot machines.
_spot_labels := [
	"cloud.google.com/gke-preemptible",
	"cloud.google.com/gke-spot",
	"eks.amazonaws.com/capacityType",
	"karpenter.sh/capacity-type",
	"kubernetes.azure.com/scalesetpriority",
]

_is_default(pod_set) if not "terminationGracePeriodSeconds" in object.keys(pod_set)

_is_default(pod_set) if {
	pod_set.terminationGracePeriodSeconds == _default
	_writes_default
}

# What the pod has after this mutation.
_grace_of(pod_set) := _grace if not _why_no_grace(pod_set)

_grace_of(pod_set) := object.get(pod_set, "terminationGracePeriodSeconds", _default) if _why_no_grace(pod_set)

_wait := object.get(_site, "preStopWait", 0)

_why_no_hook(pod_set) := "lifecycle of usher.yaml gives these containers no preStop hook" if not _site.preStop

else := "a change to this template would not reach its pods" if not pod_set.changeable

else := $"its grace period of {_grace_of(pod_set)} seconds would end before the hook" if _grace_of(pod_set) <= _wait

else := "the parameter maximumSleepSeconds of leaves-too-late does not allow the hook to wait that long" if {
	_wait > parameters.priority.leaves_too_late.maximumSleepSeconds
}

else := "process 1 of its containers is not the program, because they share their processes" if {
	_site.signals
	_shares_processes(pod_set)
}

else := "process 1 of its containers is not the program, because sshd or Ray starts it" if {
	_site.signals
	_starts_the_program(pod_set)
}

# These processes outlive the program, so a hook that waits would hold the devices after each run.
_starts_the_program(pod_set) if not pod_set.ranksInheritEnvironment

_starts_the_program(_) if input.workload.group == "ray.io"

_shares_processes(pod_set) if pod_set.hostPID

_shares_processes(pod_set) if pod_set.shareProcessNamespace

skips contains {"at": "", "reason": _why_not}

skips contains {"at": pod_set.path, "reason": reason} if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	reason := _why_no_grace(pod_set)
}

skips contains {"at": pod_set.path, "reason": reason} if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	reason := _why_no_hook(pod_set)
}
