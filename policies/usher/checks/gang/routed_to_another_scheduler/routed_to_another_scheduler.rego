# METADATA
# title: Jobs that are routed to a gang scheduler name no other scheduler
# description: |
#   usher.yaml routes kinds of jobs to Volcano or KAI-Scheduler, which place their pods as gangs. A template that names
#   another scheduler takes its pods away from there: an operator leaves the name as it is, and the gang that it forms waits
#   for pods that somebody else places. Jobs of one pod are no gang, kinds of which the scheduler makes none are not
#   routed, and the operator of an MPIJob overwrites the name. Where some templates name the scheduler and some do not,
#   another check speaks.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/developer/pod-grouper.md
#     description: KAI-Scheduler on how it groups pods
# schemas:
#   - input: schema.input
# custom:
#   code: USH513
#   about: accelerator pods
#   severity: medium
#   why: The job passes by the queue that is meant for it, and its pods are placed one by one.
#   closes: [S25]
#   remediation: |
#     Leave `schedulerName` out of the templates, or take the namespace or the kind out of the routing of usher.yaml.
package usher.checks.gang.routed_to_another_scheduler

import data.usher.lib.routing
import data.usher.lib.workload

deny contains finding if {
	routing.makes_gang
	route := input.site.route
	not _overwritten
	not input.workload.owned
	workload.makes_several_pods
	not _names_it
	some pod_set in workload.accelerator_pod_sets
	routing.chosen(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} names {pod_set.schedulerName}, but {input.workload.kind}s of this namespace are routed to {route.schedulerName}",
		"remedy": "leave schedulerName out",
	}
}

# The operator of an MPIJob names Volcano itself.
_overwritten if {
	input.site.route.scheduler == "volcano"
	input.workload.kind == "MPIJob"
}

_names_it if {
	some pod_set in input.podSets
	pod_set.schedulerName == input.site.route.schedulerName
}

_names_it if {
	input.site.route.scheduler == "volcano"
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}
