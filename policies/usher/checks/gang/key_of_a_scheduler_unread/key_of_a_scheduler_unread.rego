# METADATA
# title: Keys for schedulers stand where the scheduler reads them
# description: |
#   Schedulers and operators read some names as labels and others as annotations, some on the pods and others on the
#   object, and only of certain kinds. New versions do not read some keys of old ones. A key in the wrong place changes
#   nothing: the pods go to the default queue, or one by one to nodes, or an autoscaler evicts them. The check has a row for
#   each key that people write in the wrong place. A queue of KAI-Scheduler has no effect on pods of another scheduler.
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
#   - ref: https://github.com/kubernetes-sigs/kueue/blob/main/pkg/controller/jobframework/tas_validation.go
#     description: Kueue reads topology annotations from the templates of pods
#   - ref: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
#     description: The annotation of the Cluster Autoscaler stands on pods
#   - ref: https://github.com/kai-scheduler/KAI-Scheduler/blob/main/pkg/podgrouper/pod_controller.go
#     description: KAI-Scheduler reads only pods that name it
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
	["cluster-autoscaler.kubernetes.io/safe-to-evict", "labels", "the Cluster Autoscaler", "the annotation cluster-autoscaler.kubernetes.io/safe-to-evict"],
	["karpenter.sh/do-not-disrupt", "labels", "Karpenter", "the annotation karpenter.sh/do-not-disrupt"],
	["kueue.x-k8s.io/job-min-parallelism", "labels", "Kueue", "the annotation kueue.x-k8s.io/job-min-parallelism"],
]

# Annotations that their readers look for on pods alone.
_of_pods := {
	"kueue.x-k8s.io/podset-required-topology": "Kueue",
	"kueue.x-k8s.io/podset-preferred-topology": "Kueue",
	"kueue.x-k8s.io/podset-unconstrained-topology": "Kueue",
	"kueue.x-k8s.io/podset-slice-required-topology": "Kueue",
	"kueue.x-k8s.io/podset-slice-size": "Kueue",
	"cluster-autoscaler.kubernetes.io/safe-to-evict": "the Cluster Autoscaler",
	"karpenter.sh/do-not-disrupt": "Karpenter",
}

# Kinds whose controllers leave the annotations of the object off its pods.
_keeps_its_own := [
	["apps", "Deployment"], ["apps", "StatefulSet"], ["batch", "Job"], ["jobset.x-k8s.io", "JobSet"],
	["kubeflow.org", "MPIJob"], ["kubeflow.org", "PyTorchJob"], ["leaderworkerset.x-k8s.io", "LeaderWorkerSet"],
	["ray.io", "RayCluster"], ["ray.io", "RayJob"],
]

# Annotations that their readers look for on objects of these kinds alone, and on which other kinds people write them.
_of_kinds := {
	"kueue.x-k8s.io/job-min-parallelism": ["Kueue", {["batch", "Job"]}, "a fixed number of pods, or a batch Job"],
	"kai.scheduler/batch-min-member": ["KAI-Scheduler", {["batch", "Job"], ["jobset.x-k8s.io", "JobSet"]}, "kai.scheduler/min-member, from the version that reads it"],
}

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

# Keys on an object whose reader looks at its pods.
deny contains finding if {
	not input.workload.owned
	[input.workload.group, input.workload.kind] in _keeps_its_own
	some key, reader in _of_pods
	value := input.workload.annotations[key]
	every pod_set in input.podSets {
		not pod_set.annotations[key]
	}
	finding := {
		"path": $"/metadata/annotations/{replace(key, "/", "~1")}",
		"message": $"{reader} reads the annotation {key} ({text.excerpt(value)}) of pods, and {input.workload.kind} does not hand it on to its pods",
		"remedy": $"move it to {input.podSets[0].metadataPath}/annotations",
	}
}

deny contains finding if {
	not input.workload.owned
	[input.workload.group, input.workload.kind] in _keeps_its_own
	some key, [reader, kinds, other] in _of_kinds
	value := input.workload.annotations[key]
	not [input.workload.group, input.workload.kind] in kinds
	finding := {
		"path": $"/metadata/annotations/{replace(key, "/", "~1")}",
		"message": $"{reader} does not read the annotation {key} ({text.excerpt(value)}) of a {input.workload.kind}",
		"remedy": $"use {other}",
	}
}

# Operators of other kinds set the scheduler of pods, and so may the routing of usher.yaml.
deny contains object.union(finding, assumption) if {
	not input.workload.owned
	not input.site.route
	[input.workload.group, input.workload.kind] in _plain
	not "default-scheduler" in object.get(input.site, "volcanoSchedulers", [])
	not "default-scheduler" in object.get(input.site, "kaiSchedulers", [])
	some place in _places
	some key, [sort, reader, right, assumption] in _of_scheduler
	value := object.get(place[sort], key, "")
	value != ""

	# Only places with a key are compared with all pod sets.
	some pod_set in input.podSets
	place.path in ["/metadata", pod_set.metadataPath]
	pod_set.schedulerName in ["", "default-scheduler"]
	finding := {
		"path": $"{place.path}/{sort}/{replace(key, "/", "~1")}",
		"message": $"the scheduler of Kubernetes places these pods, and does not read the {_singular[sort]} {key} ({text.excerpt(value)}) of {reader}",
		"remedy": $"name {right} in schedulerName",
	}
}

_plain := [["", "Pod"], ["apps", "Deployment"], ["apps", "StatefulSet"], ["batch", "Job"], ["jobset.x-k8s.io", "JobSet"]]

# Keys that only another scheduler reads.
_of_scheduler := {
	"kai.scheduler/queue": ["labels", "KAI-Scheduler", "kai-scheduler", {}],
	"scheduling.k8s.io/group-name": ["annotations", "Volcano", "volcano", {}],
	"scheduling.x-k8s.io/pod-group": [
		"labels",
		"the coscheduling plugin", "the scheduler that runs it (scheduler-plugins-scheduler)",
		{"assumption": "usher assumes that the scheduler of Kubernetes runs without this plugin"},
	],
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
