# METADATA
# title: Training evicts no services that nobody has given a class
# description: |
#   Pods of a PriorityClass evict whatever has less, unless the class says preemptionPolicy Never. Services without a class
#   have the default one, or 0, which is less than almost every class for training, so that a nightly run throws them out.
#   The values and the policies are those of the classes in the cluster.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#non-preempting-priority-class
#     description: Kubernetes on classes that do not preempt
# schemas:
#   - input: schema.input
# custom:
#   code: USH623
#   about: cluster facts
#   severity: low
#   why: A training run throws out every service to which nobody gave a class.
#   closes: [S23]
#   remediation: |
#     Name a class with `preemptionPolicy: Never`: it still goes before lower ones, and takes only what is free. Or give
#     services a class of their own by globalDefault.
package usher.checks.priority.training_evicts_services

import data.usher.lib.priority
import data.usher.lib.workload

deny contains finding if {
	input.workload.role in {"batch", "training"}
	some pod_set in workload.accelerator_pod_sets
	own := priority.class_of(pod_set)
	own.preempts
	own.value > input.cluster.priorities.default.value

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} evicts pods of less than {priority.shown(own)}; services that name no class have {input.cluster.priorities.default.value}",
		"remedy": "name a class with preemptionPolicy Never",
	}
}
