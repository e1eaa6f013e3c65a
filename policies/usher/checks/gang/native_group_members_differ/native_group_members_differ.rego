# METADATA
# title: Pods of a PodGroup of Kubernetes have one scheduler and one priority
# description: |
#   The scheduler of Kubernetes places the pods of a PodGroup only if all of them name the same scheduler and have the
#   priority of the group. Otherwise no pod of the group is ever scheduled. The priority comes from `priorityClassName`
#   of the pods and of the group. All groups below a CompositePodGroup need one priority too, and a hierarchy has at most
#   four levels. Another scheduler does not read the group: Volcano and KAI-Scheduler place its pods one by one. In a Job
#   whose template names a group, `spec.scheduling` has no effect.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/workload-api/
#     description: Kubernetes on Workloads and PodGroups
#   - ref: https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5710-workload-aware-preemption
#     description: The proposal for the priority of groups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1526
#   about: pods
#   severity: medium
#   why: No pod of the group is ever scheduled, or the group has no effect.
#   closes: [S24]
#   remediation: |
#     Name the same scheduler and the same priority class in every template that names the group, and the same class in
#     the PodGroup. The priority of a PodGroup cannot change.
package usher.checks.gang.native_group_members_differ

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some name, members in _members
	some pod_set in members
	_scheduler(pod_set) != _scheduler(members[0])

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{_scheduler(pod_set)} places {workload.pod_set_name(pod_set)} and {_scheduler(members[0])} places {workload.pod_set_name(members[0])}, so no pod of PodGroup {text.excerpt(name)} is scheduled",
		"remedy": "name one scheduler in every template of the group",
	}
}

deny contains finding if {
	some name, members in _members
	some pod_set in members
	_class(pod_set) != _class(members[0])

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has {_class(pod_set)} and {workload.pod_set_name(members[0])} has {_class(members[0])}, so the scheduler places no pod of PodGroup {text.excerpt(name)}",
		"remedy": "name one priority class in every template of the group, and in the PodGroup",
		"assumption": _of_classes,
	}
}

deny contains finding if {
	some name, members in _members
	some group in input.cluster.podGroups.named
	group.of == "the scheduler of Kubernetes"
	group.name == name
	some pod_set in members
	_class(pod_set) == _class(members[0])
	_class(pod_set) != _class({"priorityClassName": group.priorityClass})

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has {_class(pod_set)} and PodGroup {text.excerpt(name)} has {_class({"priorityClassName": group.priorityClass})}, so the scheduler places no pod of the group",
		"remedy": $"name the class of the group: {_class({"priorityClassName": group.priorityClass})}",
		"assumption": _of_classes,
	}
}

deny contains finding if {
	some group in input.cluster.podGroups.named
	some above in group.above
	_class({"priorityClassName": above.priorityClass}) != _class({"priorityClassName": group.priorityClass})

	finding := {
		"path": group.path,
		"message": $"CompositePodGroup {text.excerpt(above.name)} has {_class({"priorityClassName": above.priorityClass})} and PodGroup {text.excerpt(group.name)} below it has {_class({"priorityClassName": group.priorityClass})}, so the scheduler places no pod of the hierarchy",
		"remedy": "name one priority class in all groups of the hierarchy, and in their pods",
		"assumption": _of_classes,
	}
}

deny contains finding if {
	some group in input.cluster.podGroups.named
	some above in group.above
	above.invalid

	finding := {
		"path": group.path,
		"message": $"the scheduler refuses the CompositePodGroups above PodGroup {text.excerpt(group.name)}, because {above.invalid}",
		"remedy": "correct parentCompositePodGroupName of the groups",
	}
}

# Another check reports pods that Volcano places without one of its groups.
deny contains finding if {
	some name, members in _members
	some pod_set in members
	pod_set.schedulerName in _blind

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{pod_set.schedulerName} places {workload.pod_set_name(pod_set)} and does not read PodGroup {text.excerpt(name)} of Kubernetes",
		"remedy": "remove schedulerName, or schedulingGroup and use the groups of that scheduler",
	}
}

deny contains finding if {
	count(_members) > 0
	input.object.job.spec.scheduling

	finding := {
		"path": "/spec/scheduling",
		"message": "spec.scheduling has no effect, because the template names a PodGroup in schedulingGroup",
		"remedy": "remove one of them",
	}
}

_members[name] := [pod_set | some pod_set in input.podSets; pod_set.schedulingGroup == name] if {
	some each in input.podSets
	name := each.schedulingGroup
	not input.workload.owned
}

_scheduler(pod_set) := pod_set.schedulerName if pod_set.schedulerName != ""

_scheduler(pod_set) := "default-scheduler" if pod_set.schedulerName == ""

_class(holder) := $"priority class {text.excerpt(holder.priorityClassName)}" if {
	not holder.priorityClassName in {"", object.get(input.site, "globalDefaultPriority", "")}
} else := "no priority class"

_of_classes := "usher assumes that both do not resolve to one priority"

_blind := {"kai-scheduler", "runai-scheduler"} | {name | some name in object.get(input.site, "kaiSchedulers", [])}
