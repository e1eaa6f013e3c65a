# METADATA
# title: Give accelerator workloads their priority class
# description: |
#   A pod without a priority class has priority 0, so any pod with a higher class may evict it. usher.yaml can name a
#   class for a workload, by its namespace, role, kind and size. The webhook then sets this class in all templates of
#   the workload, those without accelerators included, because the workers stop when Kubernetes evicts their launcher.
#   On Volcano the gang gets the same class.
#   The webhook skips the whole workload if any part of it names another class, because somebody chose that class. It
#   also skips a workload with a template that it cannot change, and pods of a PodGroup of Kubernetes that is not known
#   to have this class, because the scheduler would never place them. It skips objects that a controller made: their template
#   got the class, or has no class on purpose.
#   Kubernetes writes the default class of the cluster into a Pod without a class before any webhook sees the Pod.
#   usher.yaml names this default class in `priorities.globalDefault`. The webhook replaces it, together with its value
#   and preemption policy.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
#   - ref: https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/priority/admission.go
#     description: The values that Kubernetes writes into pods
# schemas:
#   - input: schema.input
# custom:
#   code: USM601
#   order: 20
#   protects_others: true
#   about: accelerator pods
#   promises: [priority/class_missing, priority/classes_differ_in_gang]
package usher.mutations.priority.priority_class

import data.usher.lib.routing
import data.usher.lib.text
import data.usher.lib.workload

intents contains intent if {
	not _why_not
	some pod_set in input.podSets
	pod_set.changeable

	intent := {
		"at": pod_set.path,
		"field": "priorityClass",
		"value": _value,
		"reason": $"usher.yaml names class {_class} for this workload",
		"needs": [_need],
	}
}

intents contains intent if {
	not _why_not
	input.workload.gangPlaces.priorityClass
	_on_volcano

	intent := {
		"at": "",
		"field": "gangSetting",
		"value": {"setting": "priorityClass", "value": _class},
		"reason": "Volcano orders gangs by the class of the gang",
		"needs": [_need],
	}
}

skips contains {"at": "", "reason": _why_not}

_class := input.site.priority.priorityClass

_need := {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": _class}

_value := {"name": _class, "instead": input.site.globalDefaultPriority} if {
	input.workload.kind == "Pod"
} else := {"name": _class}

_on_volcano if routing.to_volcano

_on_volcano if input.workload.gangNative

_why_not := "usher.yaml names no priority class for this workload" if not _class

else := "a controller made this object from a template that already has its class, or has no class on purpose" if input.workload.owned

else := $"its pods name PodGroup {text.excerpt(_group)} of Kubernetes, and no pod is scheduled unless the group has the same class" if _group

else := $"the workload already has class {text.excerpt(_chosen[0])}, and all of its pods need the same class" if _chosen != []

else := $"a change to the template of {workload.pod_set_name(pod_set)} would not reach its pods, and all pods need the same class" if {
	pod_set := _unchangeable[0]
}

# The class of a PodGroup cannot change, so pods only get a class that their group is known to have.
_group := [pod_set.schedulingGroup |
	some pod_set in input.podSets
	pod_set.schedulingGroup
	not _has_class(pod_set.schedulingGroup)
][0]

_has_class(name) if {
	some group in input.cluster.podGroups.named
	group.name == name
	group.priorityClass == _class
	every above in object.get(group, "above", []) {
		above.priorityClass == _class
	}
}

# Classes that the author named: not the default class, which Kubernetes writes into Pods without a class.
_chosen := [class |
	some class in array.concat([pod_set.priorityClassName | some pod_set in input.podSets], [object.get(input.workload.gang, "priorityClass", "")])
	not class in ["", _class]
	not class == _value.instead
]

# KubeRay makes the submitter of a Ray job, which asks for no accelerators.
_unchangeable := [pod_set |
	some pod_set in input.podSets
	not pod_set.changeable
	pod_set.name != "submitter"
]
