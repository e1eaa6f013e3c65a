# METADATA
# title: Accelerator pods name a scheduler that is known
# description: |
#   A pod goes to the scheduler that it names and to no other. If nobody runs one of that name, it is pending for ever,
#   without an event that says why. If a tenant runs it, it hands out GPUs by rules of its own: taints, gangs and
#   priorities hold only as far as a scheduler heeds them. Known are the schedulers of the parameter, and those of
#   Volcano that the routing of usher.yaml names.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/extend-kubernetes/configure-multiple-schedulers/
#     description: Kubernetes on several schedulers
# schemas:
#   - input: schema.input
# custom:
#   code: USH306
#   about: accelerator pods
#   severity: medium
#   why: Either nobody ever places the pods, or somebody does who heeds no rule.
#   closes: [B42]
#   parameters:
#     schedulers:
#       default:
#         - default-scheduler
#         - kai-scheduler
#         - scheduler-plugins-scheduler
#         - yunikorn
#         - koord-scheduler
#         - hami-scheduler
#         - runai-scheduler
#         - slurm-bridge-scheduler
#         - topo-aware-scheduler
#         - gke.io/optimize-utilization-scheduler
#       description: Names of schedulers that run on this cluster, or may.
#   remediation: |
#     Correct the name, or leave it out for the default scheduler. If the scheduler is one of this cluster, list it in
#     usher.yaml (parameters, unknown-scheduler, schedulers).
package usher.checks.placement.unknown_scheduler

import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.schedulerName != ""
	not pod_set.schedulerName in parameters.placement.unknown_scheduler.schedulers
	not pod_set.schedulerName in input.site.volcanoSchedulers
	not pod_set.schedulerName in object.get(input.site, "kaiSchedulers", [])

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} waits for the scheduler {text.excerpt(pod_set.schedulerName)}, which usher.yaml does not know",
		"remedy": "name a scheduler that this cluster runs, or leave schedulerName out",
	}
}
