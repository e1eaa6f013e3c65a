# METADATA
# title: Training ranks below inference
# description: |
#   A service gets its GPUs at once only if its class has a higher value than the class of every training run. The check
#   does not compare names, but the values of the classes in the cluster. Pods without a class have the default class,
#   or priority 0. The check compares the values of Kueue's own classes with each other in the same way. A class is for
#   inference if its name contains a text of the parameter. The check training-with-inference-class handles training
#   that uses one of these classes.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH622
#   about: cluster facts
#   severity: medium
#   why: A service that needs a GPU cannot take it from a training run, and may lose its own GPU to one.
#   closes: [S22, S23]
#   parameters:
#     inferenceClasses:
#       default: [inference]
#       description: Texts that mark a class as meant for inference if its name contains one of them.
#   remediation: Name a class for training with a value below every class for inference.
package usher.checks.priority.training_not_below_inference

import data.usher.lib.parameters
import data.usher.lib.priority
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	own := priority.class_of(pod_set)
	not _for_inference(own.name)
	other := _lowest(input.cluster.priorities.notAbove)
	own.value >= other.value

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} trains with {priority.shown(own)}, but the inference class {other.name} has only {other.value}",
		"remedy": $"name a class for training with a value below {other.value}",
	}
}

deny contains finding if {
	input.workload.role == "training"
	name := priority.workload_class
	not _for_inference(name)
	value := input.cluster.priorities.inQueue.value
	other := _lowest(input.cluster.priorities.notAboveInQueue)

	finding := {
		"path": priority.workload_class_path,
		"message": $"the workload trains in queue class {name} ({value}), but the inference class {other.name} has only {other.value}",
		"remedy": $"name a queue class for training with a value below {other.value}",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "priorityClassName"),
	"reason": $"usher cannot read the value of PriorityClass {pod_set.priorityClassName}",
} if {
	some pod_set in workload.accelerator_pod_sets
	class := input.cluster.priorities.classes[pod_set.priorityClassName]
	class.exists
	not "value" in object.keys(class)
}

# The lowest class for inference; of equal ones the first by name.
_lowest(classes) := lowest if {
	ranks := [[class.value, class.name] | some class in classes; _for_inference(class.name)]
	first := sort(ranks)[0]
	lowest := {"value": first[0], "name": first[1]}
}

_for_inference(name) if {
	some part in parameters.priority.training_not_below_inference.inferenceClasses
	contains(name, part)
}
