# METADATA
# title: Training ranks below inference
# description: |
#   Services get their GPUs at once only if their class is worth more than that of every training run. Names do not tell:
#   here the values of the classes in the cluster are compared. Pods that name no class have the default one, or 0. The
#   values of Kueue's own classes are compared with each other in the same way. Which classes are meant for inference
#   is told by their names; training in one of these is for training-with-inference-class.
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
#   why: A service that needs a GPU cannot take it from a training run, and may lose its own to one.
#   closes: [S22, S23]
#   parameters:
#     inferenceClasses:
#       default: [inference]
#       description: Texts of which one is in the name of every class that is meant for inference.
#   remediation: Name a class for training whose value is below that of every class for inference.
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
		"message": $"{workload.pod_set_name(pod_set)} trains with {priority.shown(own)}, and {other.name}, which is for inference, has {other.value}",
		"remedy": $"name a class for training of less than {other.value}",
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
		"message": $"the workload trains in queue class {name} ({value}), and {other.name}, which is for inference, has {other.value}",
		"remedy": $"name a queue class for training of less than {other.value}",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "priorityClassName"),
	"reason": $"PriorityClass {pod_set.priorityClassName} has no value that can be read",
} if {
	some pod_set in workload.accelerator_pod_sets
	class := input.cluster.priorities.classes[pod_set.priorityClassName]
	class.exists
	not "value" in object.keys(class)
}

# The lowest that is for inference, and of several the first by name.
_lowest(classes) := lowest if {
	ranks := [[class.value, class.name] | some class in classes; _for_inference(class.name)]
	first := sort(ranks)[0]
	lowest := {"value": first[0], "name": first[1]}
}

_for_inference(name) if {
	some part in parameters.priority.training_not_below_inference.inferenceClasses
	contains(name, part)
}
