# METADATA
# title: The default class of all pods evicts nobody
# description: |
#   A PriorityClass with globalDefault gives its value to every pod that names no class: to every forgotten notebook and
#   every helper. With a value above 0 those pods may evict what came before the class was made and has 0. There can be
#   one default only; of several Kubernetes takes the lowest. Administrators and controllers may make one as they like;
#   who they are, `identities` in usher.yaml says.
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
#   why: From one day to the next every pod without class may evict running work.
#   closes: [S23]
#   remediation: |
#     Remove `globalDefault` and name the class where it is meant, or set `preemptionPolicy: Never`.
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
		"message": $"every pod without class gets the value {class.value} of this one, and may evict pods that have less",
		"remedy": "remove globalDefault, or set preemptionPolicy to Never",
	}
}
