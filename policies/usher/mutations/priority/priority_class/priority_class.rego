# METADATA
# title: Give accelerator workloads their priority class
# description: |
#   Pods without class have priority 0, and any pod with a class may evict them. Where usher.yaml names a class for a
#   workload, by its namespace, role, kind and size, all of its templates get it, those without accelerators too: the
#   eviction of a launcher stops the workers. Where the workload runs on Volcano its gang gets the same class. If anything
#   in the workload names another class the whole is left alone, because that class was chosen; so is a workload of
#   which one template cannot be changed. What a controller made is left alone: the template it was made from was given its
#   class, or was not on purpose.
#   Into a Pod that names none Kubernetes writes the class that is the default of the cluster before any webhook sees it.
#   usher.yaml says which one that is (`priorities.globalDefault`); it gives way, and its number and preemption policy
#   with it.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
#   - ref: https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/priority/admission.go
#     description: What Kubernetes writes into pods
# schemas:
#   - input: schema.input
# custom:
#   code: USM601
#   order: 20
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
		"reason": $"usher.yaml names class {_class} for it",
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
		"reason": "Volcano orders its gangs by a class of their own",
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

_why_not := "usher.yaml names no priority class for it" if not _class

else := "the template that it was made from has its class, or was left without on purpose" if input.workload.owned

else := $"it has class {text.excerpt(_chosen[0])}, and all of its pods should have one" if _chosen != []

else := $"what is written into the template of {workload.pod_set_name(pod_set)} would not reach its pods, and all should have one class" if {
	pod_set := _unchangeable[0]
}

# Classes that somebody named: not the one that Kubernetes writes where nobody did.
_chosen := [class |
	some class in array.concat([pod_set.priorityClassName | some pod_set in input.podSets], [object.get(input.workload.gang, "priorityClass", "")])
	not class in {"", _class}
	not class == _value.instead
]

# What submits a Ray job is made up by KubeRay, and asks for nothing.
_unchangeable := [pod_set |
	some pod_set in input.podSets
	not pod_set.changeable
	pod_set.name != "submitter"
]
