# METADATA
# title: Workloads use the queue classes of their namespace
# description: |
#   A user who may create a job may name any WorkloadPriorityClass in its label. The job can then overtake and evict the
#   jobs of all teams that share a queue. Where a site lists the classes of a namespace, its workloads may name no other
#   class. Without a list, every class is allowed.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH609
#   about: labelled pods
#   severity: high
#   why: With one label, a job takes the GPUs of another team's running job.
#   closes: [S22]
#   parameters:
#     allowed:
#       default: []
#       description: Classes that workloads may name. An empty list allows all classes.
#   remediation: |
#     Name a class of your namespace, or have the class allowed in usher.yaml (parameters, workload-class-not-allowed,
#     allowed).
package usher.checks.priority.workload_class_not_allowed

import data.usher.lib.parameters
import data.usher.lib.priority
import data.usher.lib.text

deny contains finding if {
	class := priority.workload_class
	count(_allowed) > 0
	not class in _allowed

	finding := {
		"path": priority.workload_class_path,
		"message": $"queue class {text.excerpt(class)} is not allowed in this namespace",
		"remedy": $"use one of the allowed classes: {concat(", ", _allowed)}",
	}
}

_allowed := parameters.priority.workload_class_not_allowed.allowed
