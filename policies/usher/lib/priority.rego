# METADATA
# title: Priority
# description: Which classes of priority a workload carries, and who asks.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.priority

# METADATA
# title: Label that names the class of a workload in Kueue's queues
workload_class_label := "kueue.x-k8s.io/priority-class"

# METADATA
# title: Class of the workload in Kueue's queues
# description: Read where Kueue reads it; the API and Kueue both take an empty name for none.
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
# title: Where that label stands
workload_class_path := $"{input.workload.queueLabelPath}/labels/kueue.x-k8s.io~1priority-class"

# METADATA
# title: Whether an administrator or a controller asks
# description: Nobody asks in CI and in an audit.
asked_by_administration if {
	some identity in input.review.by
	identity in {"administrators", "controllers"}
}

# METADATA
# title: What the class of a pod set is worth
# description: |
#   That which it names, or else the default one, whose name is empty where the cluster has none. Undefined where it is
#   not known.
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
# title: A class with its value, as people say it
shown(class) := $"{class.name} ({class.value})" if not class.given

shown(class) := $"the default class {class.name} ({class.value})" if {
	class.given
	class.name != ""
}

shown(class) := $"no class ({class.value})" if class.name == ""
