# METADATA
# title: Pods have the priority of their gang
# description: |
#   A job may name a class for its gang beside its templates: in the scheduling policy of a kubeflow.org job, in
#   priorityClassName of a Volcano Job, or in a label of Ray. This class sets the position of the gang in the queue.
#   Kubeflow's and Ray's operators give it only to the PodGroup. If a template names no class, its pods run with the
#   default class, and all pods with a higher priority can evict them. The check compares the values of the classes in
#   the cluster. The checks scheduling-policy-differs and classes-differ-in-gang handle templates that name another
#   class.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
# schemas:
#   - input: schema.input
# custom:
#   code: USH624
#   about: cluster facts
#   severity: medium
#   why: The job goes before others in the queue, but its pods are evicted first.
#   closes: [S23, S26]
#   remediation: Also name the class of the gang in every template.
package usher.checks.priority.pods_rank_below_their_gang

import data.usher.lib.workload

deny contains finding if {
	name := input.workload.gang.priorityClass
	value := input.cluster.priorities.classes[name].value
	some pod_set in workload.accelerator_pod_sets
	pod_set.priorityClassName == ""
	given := input.cluster.priorities.default.value
	given < value

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"the gang has class {name} ({value}), but {workload.pod_set_name(pod_set)} names no class and runs with {given}",
		"remedy": $"set priorityClassName to {name} in the template",
	}
}
