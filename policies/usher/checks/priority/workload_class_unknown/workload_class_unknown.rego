# METADATA
# title: Workloads name an existing WorkloadPriorityClass
# description: |
#   Kueue does not admit a workload whose WorkloadPriorityClass does not exist. The workload stays suspended, and only
#   an event of Kueue's own object says why. A PriorityClass of the same name is another kind and does not help.
#   Somebody may create the class a moment later, so the finding only warns, unless usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH621
#   about: cluster facts
#   severity: medium
#   why: The workload waits in its queue forever, and nothing on it says why.
#   closes: [S22]
#   remediation: Name an existing WorkloadPriorityClass, or create this one.
package usher.checks.priority.workload_class_unknown

import data.usher.lib.priority
import data.usher.lib.text

deny contains finding if {
	input.cluster.priorities.inQueue.exists == false

	finding := {
		"path": priority.workload_class_path,
		"message": $"the workload names WorkloadPriorityClass {text.excerpt(priority.workload_class)}, which does not exist, so Kueue does not admit it",
		"remedy": "name a class that `kubectl get workloadpriorityclasses` lists, or create this one",
		"missing": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": priority.workload_class},
	}
}

unknown contains {
	"path": priority.workload_class_path,
	"reason": $"usher does not know whether WorkloadPriorityClass {text.excerpt(priority.workload_class)} exists: the facts of the cluster contain no WorkloadPriorityClasses",
} if {
	class := input.cluster.priorities.inQueue
	not "exists" in object.keys(class)
}
