# METADATA
# title: Pods with accelerators leave their node in bounded time
# description: |
#   When a pod is evicted or preempted, the kubelet waits for terminationGracePeriodSeconds before it ends the
#   containers. All that time the pod holds its GPUs, and the pods that evicted it wait. So a pod with a grace period of
#   a week cannot be evicted in practice, whatever its priority. A preStop hook that only sleeps holds the GPUs without
#   saving anything; it never lasts longer than the grace period.
#
#   Servers drain requests in minutes, and trainers write a last checkpoint in less than an hour. The check reads the
#   sleep of a hook from its field or from a plain command; it does not follow scripts.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
#     description: Kubernetes on the termination of pods
#   - ref: https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/
#     description: Kubernetes on the hooks of containers
# schemas:
#   - input: schema.input
# custom:
#   code: USH626
#   about: accelerator pods
#   severity: high
#   why: A pod that does not leave holds GPUs that belong to workloads of higher priority.
#   closes: [S23]
#   parameters:
#     maximumSeconds:
#       default: 7200
#       description: Maximum grace period of a pod with accelerators, in seconds.
#     maximumSleepSeconds:
#       default: 900
#       description: Maximum time that a preStop hook may sleep in a pod with accelerators, in seconds.
#   remediation: |
#     Write the last checkpoint when SIGTERM arrives, and set a grace period that is long enough for it. Shorten the sleep
#     of preStop hooks to the time in which load balancers notice. Or have the maximum raised in usher.yaml (parameters,
#     leaves-too-late, maximumSeconds).
package usher.checks.priority.leaves_too_late

import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	seconds := pod_set.terminationGracePeriodSeconds
	seconds > _maximum

	finding := {
		"path": workload.field_path(pod_set, "terminationGracePeriodSeconds"),
		"message": $"{workload.pod_set_name(pod_set)} may hold its accelerators for {seconds} seconds after it is evicted, more than the maximum of {_maximum}",
		"remedy": $"set terminationGracePeriodSeconds to at most {_maximum}",
	}
}

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	slept := container.lifecycle.preStop.sleepSeconds
	grace := object.get(pod_set, "terminationGracePeriodSeconds", 30)
	seconds := min([slept, grace])
	seconds > _maximum_sleep

	finding := {
		"path": $"{container.path}/lifecycle/preStop",
		"message": $"{workload.container_name(pod_set, container)} sleeps for {seconds} seconds after the pod is evicted, and holds its accelerators, more than the maximum of {_maximum_sleep}",
		"remedy": $"sleep for at most {_maximum_sleep} seconds in preStop",
	}
}

_maximum := parameters.priority.leaves_too_late.maximumSeconds

_maximum_sleep := parameters.priority.leaves_too_late.maximumSleepSeconds
