# METADATA
# title: Priority classes that pods name are there
# description: |
#   The API server refuses a pod whose PriorityClass does not exist; the job, the Deployment or the queue that makes such
#   pods was accepted all the same, and nothing tells its author why no pod comes. A class that is applied a moment later
#   mends it, so this only warns, unless usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#pod-priority
#     description: Kubernetes on pods that name a missing class
# schemas:
#   - input: schema.input
# custom:
#   code: USH620
#   about: cluster facts
#   severity: medium
#   why: The workload is accepted, and every one of its pods is refused.
#   closes: [S23]
#   remediation: Name a PriorityClass of the cluster, or create the one that is named.
package usher.checks.priority.class_unknown

import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	name := pod_set.priorityClassName
	input.cluster.priorities.classes[name].exists == false

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} names PriorityClass {name}, which is not there, so none of its pods is accepted",
		"remedy": "name a class that `kubectl get priorityclasses` lists, or create this one",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "priorityClassName"),
	"reason": $"whether PriorityClass {pod_set.priorityClassName} is there is not known: no classes are among the facts of the cluster",
} if {
	some pod_set in input.podSets
	class := input.cluster.priorities.classes[pod_set.priorityClassName]
	not "exists" in object.keys(class)
}
