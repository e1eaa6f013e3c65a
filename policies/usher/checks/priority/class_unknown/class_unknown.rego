# METADATA
# title: Pods name an existing PriorityClass
# description: |
#   The API server refuses a pod whose PriorityClass does not exist. It still accepts the job, Deployment or queue that
#   makes the pods, and nothing tells the author why no pod starts. Somebody may create the class a moment later, so the
#   finding only warns, unless usher.yaml says otherwise.
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
#   why: The API server accepts the workload, but refuses every one of its pods.
#   closes: [S23]
#   remediation: Name an existing PriorityClass, or create this one.
package usher.checks.priority.class_unknown

import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	name := pod_set.priorityClassName
	input.cluster.priorities.classes[name].exists == false

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} names PriorityClass {name}, which does not exist, so the API server refuses the pods",
		"remedy": "name a class that `kubectl get priorityclasses` lists, or create this one",
		"missing": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": name},
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "priorityClassName"),
	"reason": $"usher does not know whether PriorityClass {pod_set.priorityClassName} exists: the facts of the cluster contain no PriorityClasses",
} if {
	some pod_set in input.podSets
	class := input.cluster.priorities.classes[pod_set.priorityClassName]
	not "exists" in object.keys(class)
}
