# METADATA
# title: One scheduler places all pods of a gang
# description: |
#   A scheduler can hold back the pods of a gang only if it places all of them. If one template names a different
#   scheduler, or no scheduler, each part is placed on its own. One part may take its accelerators while the other part
#   finds no room. A Volcano Job gives its own schedulerName to templates without one. Templates without accelerators
#   may differ. Other checks look at jobs that usher.yaml routes to Volcano, and at
#   PodCliqueSets.
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
#   why: One part of the job can take its GPUs while the other part never finds room.
#   closes: [S24, S25]
#   remediation: Name the same scheduler in every template.
package usher.checks.gang.mixed_schedulers

import data.usher.lib.routing
import data.usher.lib.volcano
import data.usher.lib.workload

# The operators of these groups may set the scheduler of templates without schedulerName.
_with_operators := ["kubeflow.org", "ray.io", "sagemaker.amazonaws.com"]

deny contains object.union(finding, _assumption(pod_set)) if {
	input.workload.gang.wanted
	not _reported_by_volcano_without_gang
	not _refused_by_grove
	wanted := _gang_scheduler
	some pod_set in workload.accelerator_pod_sets
	_scheduler(pod_set) != wanted

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{_scheduler(pod_set)} places {workload.pod_set_name(pod_set)} but {wanted} places {workload.pod_set_name(_first)}, so no scheduler sees the whole gang",
		"remedy": $"set schedulerName to {wanted} in every template",
	}
}

# Another check reports it for all cliques, with and without accelerators.
_refused_by_grove if input.workload.kind == "PodCliqueSet"

_reported_by_volcano_without_gang if {
	routing.made_by_operator
	input.workload.gangPlaces.onTemplates
}

# The scheduler of pods whose template has no schedulerName.
_default := volcano.job_spec.schedulerName if {
	volcano.job_spec.schedulerName != ""
} else := "volcano" if {
	input.workload.gangNative
} else := "default-scheduler"

_scheduler(pod_set) := pod_set.schedulerName if pod_set.schedulerName != ""

_scheduler(pod_set) := _default if pod_set.schedulerName == ""

# The gang belongs to the scheduler that a template names.
_first := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	_scheduler(pod_set) != "default-scheduler"
][0]

_gang_scheduler := _scheduler(_first)

_assumption(pod_set) := {"assumption": "usher assumes that the operator leaves templates without schedulerName to the default scheduler"} if {
	pod_set.schedulerName == ""
	input.workload.group in _with_operators
} else := {}
