# METADATA
# title: Jobs that are routed to Volcano name no other scheduler
# description: |
#   usher.yaml routes kinds of jobs to Volcano, whose queue and gang their operator sets up. A template that names another
#   scheduler takes its pods away from there: the operator leaves the name as it is, the gang is formed and waits for pods
#   that somebody else places. Jobs of one pod are no gang, and an MPIJob's operator overwrites the name. Where some
#   templates name Volcano and some do not, another check speaks.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
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

import data.usher.lib.workload

deny contains finding if {
	route := input.site.route
	route.scheduler == "volcano"
	input.workload.kind != "MPIJob"
	not input.workload.owned
	workload.makes_several_pods
	not _names_volcano
	some pod_set in workload.accelerator_pod_sets
	pod_set.schedulerName != ""

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} names {pod_set.schedulerName}, but {input.workload.kind}s of this namespace are routed to {route.schedulerName}",
		"remedy": "leave schedulerName out",
	}
}

_names_volcano if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}
