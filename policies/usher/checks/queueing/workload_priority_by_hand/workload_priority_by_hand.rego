# METADATA
# title: No Workload of Kueue has a system priority
# description: |
#   Kueue makes a Workload for each job and copies the priority from the class of the job. A user who may write Workloads
#   can write one without a job, and any priority into it. Kueue orders its queues by this number and evicts running jobs
#   for it, and it does not compare the number with the class. The system classes, and numbers above 1000000000, which no
#   other class may have, put a Workload before all others. Other priorities that a person sets by hand cause a warning:
#   usher cannot tell whether this person may choose them.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/#priority
#     description: Kueue on the priority of a Workload
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#priorityclass
#     description: Kubernetes on the values of priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH443
#   about: objects
#   kinds: [kueueWorkload]
#   severity: high
#   why: One object goes before all jobs in its queue and evicts those that run.
#   closes: [S22, S23]
#   remediation: |
#     Remove the Workload and make a job, for which Kueue makes one. Give the job a priority class.
package usher.checks.queueing.workload_priority_by_hand

import data.usher.lib.kueue
import data.usher.lib.priority
import data.usher.lib.text

_highest_of_users := 1000000000

deny contains finding if {
	some entry in _system_priorities
	not input.site.systemNamespace
	not priority.asked_by_administration
	not _has_it_already(entry.field)

	finding := {
		"path": entry.path,
		"message": $"the Workload has {entry.what}, so Kueue puts it before all other workloads",
		"remedy": "remove the Workload, and make a job with a priority class",
	}
}

deny contains finding if {
	_system_priorities == []
	value := _spec.priority
	value > 0
	kueue.user_is_not_one_of(["administrators", "controllers"])
	not _has_it_already("priority")

	finding := {
		"path": "/spec/priority",
		"message": $"the Workload has priority {value}, which a person set by hand",
		"remedy": "remove the Workload, and make a job with a priority class",
		"assumption": "usher assumes that this user may not choose the priority of a Workload",
	}
}

_spec := input.object.kueueWorkload.spec

_system_priorities := array.concat(
	[entry |
		some field, name in _names
		startswith(name, "system-")
		entry := {
			"field": field,
			"path": _paths[field],
			"what": $"the system class {text.excerpt(name)}",
		}
	],
	[entry |
		_spec.priority > _highest_of_users
		entry := {
			"field": "priority",
			"path": "/spec/priority",
			"what": $"priority {_spec.priority}, more than classes of users may have,",
		}
	],
)

_names["priorityClassName"] := _spec.priorityClassName

_names["priorityClassRef"] := _spec.priorityClassRef.name

_paths := {"priorityClassName": "/spec/priorityClassName", "priorityClassRef": "/spec/priorityClassRef/name"}

_has_it_already(field) if input.old.object.kueueWorkload.spec[field] == _spec[field]
