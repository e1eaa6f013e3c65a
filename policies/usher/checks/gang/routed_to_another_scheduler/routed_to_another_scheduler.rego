# METADATA
# title: Jobs that usher.yaml routes to a gang scheduler name no other scheduler
# description: |
#   usher.yaml routes kinds of jobs to Volcano or KAI-Scheduler, which place their pods as gangs. If a template names
#   another scheduler, the operator keeps that name. Its pods then leave the gang, and the gang waits for them forever.
#
#   The check ignores jobs of one pod, which are not gangs, and kinds that the scheduler does not place as gangs. It
#   ignores MPIJobs on Volcano, because their operator overwrites the name. Another check reports jobs in which only
#   some templates name the scheduler.
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
#   why: The job bypasses its queue, and another scheduler places its pods one by one.
#   closes: [S25]
#   remediation: |
#     Remove `schedulerName` from the templates. Or take the namespace or the kind out of the routing of usher.yaml.
package usher.checks.gang.routed_to_another_scheduler

import data.usher.lib.routing
import data.usher.lib.workload

deny contains finding if {
	routing.makes_gang
	route := input.site.route
	not _overwritten
	not input.workload.owned
	workload.makes_several_pods
	not _a_template_names_it
	some pod_set in workload.accelerator_pod_sets
	routing.chosen(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} names the scheduler {pod_set.schedulerName}, but usher.yaml routes {input.workload.kind}s of this namespace to {route.schedulerName}",
		"remedy": "remove schedulerName",
	}
}

# The operator of an MPIJob sets schedulerName itself.
_overwritten if {
	input.site.route.scheduler == "volcano"
	input.workload.kind == "MPIJob"
}

_a_template_names_it if {
	some pod_set in input.podSets
	pod_set.schedulerName == input.site.route.schedulerName
}

_a_template_names_it if {
	input.site.route.scheduler == "volcano"
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}
