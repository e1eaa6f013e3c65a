# METADATA
# title: Pods of a gang are worth what the gang is
# description: |
#   A job may name a class for its gang beside its templates: the scheduling policy of a job of kubeflow.org, the
#   priorityClassName of a Volcano Job, a label of Ray. It puts the gang in its place in the queue, and Kubeflow's and
#   Ray's operators give it to the PodGroup alone: pods whose template names no class run with the default one, and are
#   evicted by everything above it. Here the values of the classes in the cluster are compared; templates that name
#   another class are for scheduling-policy-differs and classes-differ-in-gang.
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
#   why: The job goes before others in the queue, and its pods are the first to be evicted.
#   closes: [S23, S26]
#   remediation: Name the class of the gang in every template as well.
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
		"message": $"the gang has class {name} ({value}), but {workload.pod_set_name(pod_set)} names none and runs with {given}",
		"remedy": $"set priorityClassName to {name} in the template",
	}
}
