# METADATA
# title: The queue class that a workload names is there
# description: |
#   Kueue does not admit a workload whose WorkloadPriorityClass does not exist: it stays suspended, and an event of Kueue's
#   own object is all that tells why. A PriorityClass of that name is of another kind, and does not do. A class that is
#   applied a moment later mends it, so this only warns, unless usher.yaml says otherwise.
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
#   why: The workload waits in its queue for ever, and nothing on it says why.
#   closes: [S22]
#   remediation: Name a WorkloadPriorityClass of the cluster, or create the one that is named.
package usher.checks.priority.workload_class_unknown

import data.usher.lib.priority
import data.usher.lib.text

deny contains finding if {
	input.cluster.priorities.inQueue.exists == false

	finding := {
		"path": priority.workload_class_path,
		"message": $"the workload names WorkloadPriorityClass {text.excerpt(priority.workload_class)}, which is not there, so Kueue does not admit it",
		"remedy": "name a class that `kubectl get workloadpriorityclasses` lists, or create this one",
	}
}

unknown contains {
	"path": priority.workload_class_path,
	"reason": $"whether WorkloadPriorityClass {text.excerpt(priority.workload_class)} is there is not known: no such classes are among the facts of the cluster",
} if {
	class := input.cluster.priorities.inQueue
	not "exists" in object.keys(class)
}
