# METADATA
# title: Priority
# description: Priority classes of a workload, and who makes the request.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.priority

# METADATA
# title: Label that names the class of a workload in Kueue's queues
workload_class_label := "kueue.x-k8s.io/priority-class"

# METADATA
# title: Class of the workload in Kueue's queues
# description: From the labels that Kueue reads. The API and Kueue both read an empty name as no class.
workload_class := class if {
	input.workload.queueLabelPath == "/metadata"
	class := input.workload.labels[workload_class_label]
	class != ""
}

workload_class := class if {
	class := input.workload.queueLabels[workload_class_label]
	class != ""
}

# METADATA
# title: Priority class that usher.yaml declares for the pods
# description: The webhook gives this class, so it is not a mistake of the author. Empty without one.
declared_class := object.get(input.site, ["priority", "priorityClass"], "")

# METADATA
# title: Class in Kueue's queues that usher.yaml declares for the workload
# description: As for the pods.
declared_workload_class := object.get(input.site, ["queue", "priorityClass"], "")

# METADATA
# title: Path of that label
workload_class_path := $"{input.workload.queueLabelPath}/labels/kueue.x-k8s.io~1priority-class"

# METADATA
# title: Whether an administrator or a controller makes the request
# description: False in CI and in an audit, which have no request.
asked_by_administration if {
	some identity in input.review.by
	identity in ["administrators", "controllers"]
}

# METADATA
# title: Name and value of the class of a pod set
# description: |
#   The class that the pod set names, or else the default class. The name of the default class is empty if the cluster
#   has no default. Undefined if usher does not know the class.
class_of(pod_set) := {
	"name": pod_set.priorityClassName,
	"value": class.value,
	"preempts": class.preempts,
	"given": false,
} if {
	class := input.cluster.priorities.classes[pod_set.priorityClassName]
}

class_of(pod_set) := object.union(input.cluster.priorities.default, {"given": true}) if {
	pod_set.priorityClassName == ""
}

# METADATA
# title: A class with its value in a message
shown(class) := $"{class.name} ({class.value})" if not class.given

shown(class) := $"the default class {class.name} ({class.value})" if {
	class.given
	class.name != ""
}

shown(class) := $"no class ({class.value})" if class.name == ""
