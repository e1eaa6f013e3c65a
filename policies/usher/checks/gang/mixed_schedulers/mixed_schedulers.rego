# METADATA
# title: One scheduler places all pods of a gang
# description: |
#   A scheduler can hold back the pods of a gang only if it places all of them. Where one template names another
#   scheduler than the others, or none, each part is placed by itself: one may take its accelerators while the other
#   finds no room. A Volcano Job hands its own schedulerName to templates that name none. Templates without accelerators
#   may differ, and where usher.yaml routes a job to Volcano another check speaks.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/extend-kubernetes/configure-multiple-schedulers/
#     description: Kubernetes on several schedulers
#   - ref: https://volcano.sh/en/docs/gang_scheduling/
#     description: Volcano on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH509
#   about: accelerator pods
#   severity: medium
#   why: One half of the job can take its GPUs while the other half never finds a place.
#   closes: [S24, S25]
#   remediation: Name the same scheduler in every template.
package usher.checks.gang.mixed_schedulers

import data.usher.lib.routing
import data.usher.lib.volcano
import data.usher.lib.workload

# Kinds whose operators may give a scheduler to templates that name none.
_with_operators := {"kubeflow.org", "ray.io", "sagemaker.amazonaws.com"}

deny contains object.union(finding, _assumption(pod_set)) if {
	input.workload.gang.wanted
	not _told_by_another_check
	some pod_set in workload.accelerator_pod_sets
	_scheduler(pod_set) != _of_gang

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} is placed by {_scheduler(pod_set)} and {workload.pod_set_name(_first)} by {_of_gang}, so no scheduler sees the whole gang",
		"remedy": $"set schedulerName to {_of_gang} in every template",
	}
}

_told_by_another_check if {
	routing.made_by_operator
	input.workload.gangPlaces.onTemplates
}

# Who places pods whose template names nobody.
_default := volcano.job_spec.schedulerName if {
	volcano.job_spec.schedulerName != ""
} else := "volcano" if {
	input.workload.gangNative
} else := "default-scheduler"

_scheduler(pod_set) := pod_set.schedulerName if pod_set.schedulerName != ""

_scheduler(pod_set) := _default if pod_set.schedulerName == ""

# The pods of a gang go to the scheduler that somebody chose.
_first := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	_scheduler(pod_set) != "default-scheduler"
][0]

_of_gang := _scheduler(_first)

_assumption(pod_set) := {"assumption": "the operator leaves templates without schedulerName to the default scheduler"} if {
	pod_set.schedulerName == ""
	input.workload.group in _with_operators
} else := {}
