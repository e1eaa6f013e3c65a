# METADATA
# title: Classes for training wait for room
# description: |
#   A PriorityClass evicts everything of lower priority unless it says preemptionPolicy Never, and that includes every
#   service without class, which has 0. Training can wait: with Never it still stands before lower classes in the queue,
#   but takes only what is free. Which classes are for training is told by their names. A class of value 0 or less evicts
#   none of those.
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
#   why: A nightly training run can throw out services that nobody has given a class.
#   closes: [S23]
#   parameters:
#     trainingClasses:
#       default: [batch, research, spot, training]
#       description: Texts of which one is in the name of every class that is meant for training.
#   remediation: |
#     Set `preemptionPolicy: Never`. The field cannot be changed later, so the class has to be made anew.
package usher.checks.objects.training_class_preempts

import data.usher.lib.parameters

deny contains finding if {
	class := input.object.priorityClass
	class.value > 0
	object.get(class, "preemptionPolicy", "PreemptLowerPriority") != "Never"
	_for_training(class.metadata.name)

	finding := {
		"path": "/preemptionPolicy",
		"message": $"pods of class {class.metadata.name} evict every pod of less than {class.value}, services without class among them",
		"remedy": "set preemptionPolicy to Never",
	}
}

_for_training(name) if {
	some part in parameters.objects.training_class_preempts.trainingClasses
	contains(name, part)
}
