# METADATA
# title: Priority classes for training do not evict pods
# description: |
#   A PriorityClass evicts all pods with lower priority unless it sets preemptionPolicy Never. This includes every
#   service without a class, which has priority 0. Training can wait. With Never, it still comes before lower classes in
#   the queue, but takes only free resources. The check recognises training classes by their names. A class with a value
#   of 0 or less cannot evict pods without a class.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#non-preempting-priority-class
#     description: Kubernetes on classes that do not preempt
# schemas:
#   - input: schema.input
# custom:
#   code: USH1403
#   about: objects
#   kinds: [priorityClass]
#   severity: low
#   why: A nightly training run can evict services without a class.
#   closes: [S23]
#   parameters:
#     trainingClasses:
#       default: [batch, research, spot, training]
#       description: Words that mark a class as meant for training if its name contains one of them.
#   remediation: |
#     Set `preemptionPolicy: Never`. Kubernetes cannot change the field later, so delete the class and create it again.
package usher.checks.objects.training_class_preempts

import data.usher.lib.parameters

deny contains finding if {
	class := input.object.priorityClass
	class.value > 0
	object.get(class, "preemptionPolicy", "PreemptLowerPriority") != "Never"
	_for_training(class.metadata.name)

	finding := {
		"path": "/preemptionPolicy",
		"message": $"pods of class {class.metadata.name} evict every pod below priority {class.value}, also services without a class",
		"remedy": "set preemptionPolicy to Never",
	}
}

_for_training(name) if {
	some part in parameters.objects.training_class_preempts.trainingClasses
	contains(name, part)
}
