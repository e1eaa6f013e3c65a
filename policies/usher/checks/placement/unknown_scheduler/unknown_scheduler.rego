# METADATA
# title: Accelerator pods name a known scheduler
# description: |
#   Only the scheduler that a pod names can place it. If no scheduler with this name runs, the pod stays pending
#   forever, and no event says why. If a tenant runs the scheduler, it hands out GPUs by its own rules. Taints, gangs
#   and priorities then hold only as far as that scheduler respects them. The parameter lists the known schedulers. The
#   Volcano schedulers in the routing of usher.yaml are also known.
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
#   strict_only: A cluster may run other schedulers than those that usher knows.
#   why: The pods wait forever, or their scheduler ignores the rules of the cluster.
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
#       description: Names of schedulers that run, or may run, on this cluster.
#   remediation: |
#     Correct the name, or remove it to use the default scheduler. If the scheduler belongs to this cluster, list it in
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
		"message": $"{workload.pod_set_name(pod_set)} names the scheduler {text.excerpt(pod_set.schedulerName)}, which usher does not know",
		"remedy": "name a scheduler that this cluster runs, or remove schedulerName",
	}
}
