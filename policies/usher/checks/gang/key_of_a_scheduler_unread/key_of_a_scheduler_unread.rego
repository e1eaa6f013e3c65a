# METADATA
# title: Keys for schedulers stand where the scheduler reads them
# description: |
#   Schedulers and operators read some names as labels and others as annotations, and new versions do not
#   read some keys of old ones. A key in the wrong place changes nothing: the pods go to the default queue, or one by one to
#   nodes. The check has a row for each key that people write in the wrong place.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/pkg/podgrouper/podgrouper/plugins/defaultgrouper/default_grouper.go
#     description: Where KAI-Scheduler reads the queue
#   - ref: https://github.com/kubernetes-sigs/scheduler-plugins/blob/master/pkg/coscheduling/README.md
#     description: The label of the coscheduling plugin
#   - ref: https://github.com/kubernetes-sigs/jobset/blob/main/api/jobset/v1alpha2/jobset_types.go
#     description: The annotation of JobSet
#   - ref: https://github.com/kubernetes-sigs/lws/blob/main/api/leaderworkerset/v1/leaderworkerset_types.go
#     description: The annotations of LeaderWorkerSet
# schemas:
#   - input: schema.input
# custom:
#   code: USH552
#   about: labelled pods
#   severity: medium
#   why: The workload looks queued or grouped, and is not.
#   closes: [S24, S25]
#   remediation: Move the name to the place that the message names.
package usher.checks.gang.key_of_a_scheduler_unread

import data.usher.lib.text

# Key, where it stands, who does not read it there, and the place that is read.
_unread := [
	["kai.scheduler/queue", "annotations", "KAI-Scheduler", "the label kai.scheduler/queue"],
	["nvidia.com/gpu.memory", "annotations", "KAI-Scheduler", "the annotation gpu-memory"],
	["pod-group.scheduling.sigs.k8s.io", "labels", "the coscheduling plugin", "the label scheduling.x-k8s.io/pod-group"],
	["pod-group.scheduling.sigs.k8s.io/name", "labels", "the coscheduling plugin", "the label scheduling.x-k8s.io/pod-group"],
	["pod-group.scheduling.sigs.k8s.io/min-available", "labels", "the coscheduling plugin", "minMember of a PodGroup"],
	["pod-group.scheduling.sigs.k8s.io/name", "annotations", "the coscheduling plugin", "the label scheduling.x-k8s.io/pod-group"],
	["pod-group.scheduling.sigs.k8s.io/min-available", "annotations", "the coscheduling plugin", "minMember of a PodGroup"],
	["scheduling.x-k8s.io/pod-group", "annotations", "the coscheduling plugin", "the label scheduling.x-k8s.io/pod-group"],
	["scheduling.k8s.io/group-name", "labels", "Volcano", "the annotation scheduling.k8s.io/group-name"],
	["alpha.jobset.sigs.k8s.io/exclusive-topology", "labels", "JobSet", "the annotation alpha.jobset.sigs.k8s.io/exclusive-topology"],
	["leaderworkerset.sigs.k8s.io/exclusive-topology", "labels", "LeaderWorkerSet", "the annotation leaderworkerset.sigs.k8s.io/exclusive-topology"],
]

deny contains finding if {
	not input.workload.owned
	some [key, sort, reader, right] in _unread
	not _read_by_grove(key, sort)
	some place in _places
	value := place[sort][key]

	# Both are there in manifests for several versions.
	not _read_elsewhere(place, right)

	finding := {
		"path": $"{place.path}/{sort}/{replace(key, "/", "~1")}",
		"message": $"{reader} does not read the {_singular[sort]} {key} ({text.excerpt(value)})",
		"remedy": $"name it in {right}",
	}
}

# Grove hands the annotation on (internal/scheduler/kai/backend.go of ai-dynamo/grove).
_read_by_grove("kai.scheduler/queue", "annotations") if input.workload.group == "grove.io"

_singular := {"annotations": "annotation", "labels": "label"}

_read_elsewhere(place, right) if {
	[_, sort, key] := split(right, " ")
	some other in _places
	other[$"{sort}s"][key]
	place
}

_places := array.concat(
	[{"path": "/metadata", "labels": input.workload.labels, "annotations": input.workload.annotations}],
	[{"path": pod_set.metadataPath, "labels": pod_set.labels, "annotations": pod_set.annotations} |
		some pod_set in input.podSets
		pod_set.metadataPath != "/metadata"
	],
)
