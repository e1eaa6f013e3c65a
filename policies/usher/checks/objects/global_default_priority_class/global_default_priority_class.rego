# METADATA
# title: The global default PriorityClass does not evict pods
# description: |
#   A PriorityClass with globalDefault gives its value to every pod without a class, for example to every forgotten
#   notebook. With a value above 0, these pods may evict older pods, which have 0. A cluster has only one default; of
#   several classes Kubernetes uses the lowest. Administrators and controllers may make any default; `identities` in
#   usher.yaml lists them.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#priorityclass
#     description: Kubernetes on priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1402
#   about: objects
#   kinds: [priorityClass]
#   severity: medium
#   why: Overnight, every pod without a class may evict running workloads.
#   closes: [S23]
#   remediation: 'Remove `globalDefault` and name the class in the pods that need it, or set `preemptionPolicy: Never`.'
package usher.checks.objects.global_default_priority_class

import data.usher.lib.priority

deny contains finding if {
	class := input.object.priorityClass
	class.globalDefault
	class.value > 0
	object.get(class, "preemptionPolicy", "") != "Never"
	not priority.asked_by_administration

	finding := {
		"path": "/globalDefault",
		"message": $"every pod without a class gets the value {class.value} of this class and may evict pods with a lower value",
		"remedy": "remove globalDefault, or set preemptionPolicy to Never",
	}
}
