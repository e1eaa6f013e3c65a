# METADATA
# title: Training does not evict services without a priority class
# description: |
#   Pods of a PriorityClass evict pods of lower priority, unless the class sets preemptionPolicy Never. Services without
#   a class have the default class, or priority 0. Almost every class for training is higher, so a nightly run evicts
#   these services. The check reads the values and policies of the classes in the cluster.
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
#   why: A training run evicts every service that has no class.
#   closes: [S23]
#   remediation: |
#     Name a class with `preemptionPolicy: Never`. It still goes before lower classes, but uses only free capacity. Or
#     give services a class of their own with globalDefault.
package usher.checks.priority.training_evicts_services

import data.usher.lib.priority
import data.usher.lib.workload

deny contains finding if {
	input.workload.role in ["batch", "training"]
	some pod_set in workload.accelerator_pod_sets
	own := priority.class_of(pod_set)
	own.preempts
	own.value > input.cluster.priorities.default.value

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} evicts pods below {priority.shown(own)}; services without a class have {input.cluster.priorities.default.value}",
		"remedy": "name a class with preemptionPolicy Never",
	}
}
