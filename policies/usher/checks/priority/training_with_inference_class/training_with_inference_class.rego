# METADATA
# title: Training does not use a priority class for inference
# description: |
#   Classes for inference rank above classes for training, so that a service gets its GPUs at once. A training job in an
#   inference class evicts other training, and no service can evict it. A class is for inference if its name contains a
#   text of the parameter; the label of Kueue's own classes also counts. The kind of a workload, or the label
#   gpu-usher.io/role, says whether it is training.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH605
#   about: accelerator pods
#   severity: medium
#   why: The training run takes the GPUs that are kept for services, and no service can evict it.
#   closes: [S22, S23]
#   parameters:
#     inferenceClasses:
#       default: [inference]
#       description: Texts that mark a class as meant for inference if its name contains one of them.
#   remediation: |
#     Name a class for training. If the workload is not training, set the label gpu-usher.io/role to what it is.
package usher.checks.priority.training_with_inference_class

import data.usher.lib.parameters
import data.usher.lib.priority
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	_for_inference(pod_set.priorityClassName)
	pod_set.priorityClassName != priority.declared_class

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} trains in priority class {text.excerpt(pod_set.priorityClassName)}, which is for inference",
		"remedy": "name a class for training, or set the label gpu-usher.io/role to what the workload is",
	}
}

deny contains finding if {
	input.workload.role == "training"
	_for_inference(priority.workload_class)
	priority.workload_class != priority.declared_workload_class

	finding := {
		"path": priority.workload_class_path,
		"message": $"the workload trains in the queue class {text.excerpt(priority.workload_class)}, which is for inference",
		"remedy": "name a class for training, or set the label gpu-usher.io/role to what the workload is",
	}
}

_for_inference(class) if {
	some part in parameters.priority.training_with_inference_class.inferenceClasses
	contains(class, part)
}
