# METADATA
# title: Pods that Volcano places form a gang
# description: |
#   The scheduler name alone makes no gang. Volcano makes a PodGroup for every pod that names no PodGroup, and places
#   the pods one by one. Half of a job may then hold GPUs and wait for the other half. A gang needs the annotation
#   scheduling.k8s.io/group-name on the template of every pod set. For a Job, Deployment, StatefulSet or ReplicaSet the
#   annotation scheduling.volcano.sh/group-min-member on the object is enough.
#
#   Replicas of a Deployment, StatefulSet or ReplicaSet that serves do not wait for each other, and neither do the steps of
#   a workflow, so they need no gang.
#
#   The operators of kubeflow.org, Ray and LeaderWorkerSets make gangs of their jobs, if they are configured to. The
#   routing of usher.yaml says whether they are. Then all templates must name the scheduler, unless the operator sets
#   it. A SparkApplication asks for a gang by its batchScheduler, and a TrainJob by the podGroupPolicy of its runtime.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/k8s-ecosystem/volcano.html
#     description: Ray on Volcano
# schemas:
#   - input: schema.input
# custom:
#   code: USH501
#   about: accelerator pods
#   severity: high
#   why: Half of a job may hold its GPUs and wait for the other half, which is never placed.
#   closes: [S24, S25]
#   remediation: |
#     Set the annotation scheduling.volcano.sh/group-min-member on the object to the number of its pods. Or make a
#     PodGroup and name it in the annotation scheduling.k8s.io/group-name of every pod template.
package usher.checks.gang.volcano_without_gang

import data.usher.lib.routing
import data.usher.lib.workload

_group_name := "scheduling.k8s.io/group-name"

_min_member := "scheduling.volcano.sh/group-min-member"

_owners_of_a_group := ["Job", "Deployment", "StatefulSet", "ReplicaSet"]

deny contains finding if {
	_no_gang
	not _why_unknown
	count(_ungrouped) == count(input.podSets)
	pod_set := _volcano_pod_sets[0]

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} has schedulerName {pod_set.schedulerName} but no PodGroup, so Volcano places {_pods} pods one by one",
		"remedy": _remedy,
	}
}

deny contains finding if {
	_no_gang
	not _why_unknown
	count(_ungrouped) < count(input.podSets)
	some pod_set in _ungrouped

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"{workload.pod_set_name(pod_set)} lacks the annotation {_group_name} that other templates have, so its pods do not belong to the gang",
		"remedy": "name the same PodGroup on every template",
	}
}

deny contains object.union(finding, _assumption(pod_set)) if {
	routing.made_by_operator
	input.workload.gangPlaces.onTemplates
	_should_be_gang
	some pod_set in input.podSets
	not pod_set.schedulerName in input.site.volcanoSchedulers
	other := _volcano_pod_sets[0]

	finding := {
		"path": workload.field_path(pod_set, "schedulerName"),
		"message": $"{workload.pod_set_name(pod_set)} has {_scheduler(pod_set)} but {workload.pod_set_name(other)} has {other.schedulerName}, so the gang is split between two schedulers",
		"remedy": $"set schedulerName to {other.schedulerName} on every template",
	}
}

unknown contains {"path": workload.field_path(pod_set, "schedulerName"), "reason": _why_unknown} if {
	_no_gang
	pod_set := _volcano_pod_sets[0]
}

_volcano_pod_sets := [pod_set |
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
]

_should_be_gang if {
	_volcano_pod_sets != []
	input.workload.asksAccelerators
	not input.workload.gangNative
	not input.workload.group in _groups_of_steps
	_several_pods
}

# The steps of a workflow are jobs of one pod, and most run one after another.
_groups_of_steps := ["argoproj.io", "tekton.dev"]

# Each replica serves requests by itself.
_replicas_serve if {
	input.workload.group == "apps"
	input.workload.role in ["inference", "interactive", "service"]
}

_no_gang if {
	_should_be_gang
	not _replicas_serve
	not routing.made_by_operator
	_ungrouped != []
	not _grouped_by_owner
}

# Surge pods of a rollout, and the pods of a DaemonSet, work alone.
_several_pods if {
	not input.workload.kind in ["Deployment", "DaemonSet"]
	workload.makes_several_pods
}

_several_pods if {
	input.workload.kind == "Deployment"
	input.workload.pods.minimum > 1
}

_ungrouped := [pod_set |
	some pod_set in input.podSets
	object.get(pod_set.annotations, _group_name, "") == ""
]

# Volcano ignores a value that is not a whole number.
_grouped_by_owner if {
	input.workload.kind in _owners_of_a_group
	number := input.workload.annotations[_min_member]
	trim(number, "0123456789") == ""
	to_number(number) >= 2
}

# Why usher does not know whether the pods form a gang.
_why_unknown := $"usher does not know whether the operator of {input.workload.kind}s makes gangs; the routing of usher.yaml can say it" if {
	input.workload.group == "kubeflow.org"
}

_why_unknown := "usher does not know whether the operator of LeaderWorkerSets makes gangs; the routing of usher.yaml can say it" if {
	input.workload.group == "leaderworkerset.x-k8s.io"
}

_why_unknown := "usher does not know whether KubeRay makes gangs; this depends on its setting batchScheduler" if {
	input.workload.group == "ray.io"
}

_why_unknown := $"usher does not know for which schedulers the operator of {input.workload.kind}s makes gangs" if {
	input.workload.gang.scheduler == "as configured"
	not input.workload.group in ["kubeflow.org", "leaderworkerset.x-k8s.io", "ray.io"]
}

_why_unknown := "usher does not know the annotations of the Jobs that this CronJob makes; it judges each Job when it is made" if {
	input.workload.group == "batch"
	input.workload.kind == "CronJob"
}

default _pods := "all"

_pods := $"up to {input.workload.pods.maximum}" if input.workload.pods.maximum

_remedy := $"set the annotation {_min_member} of the {input.workload.kind} to the number of its pods" if {
	input.workload.kind in _owners_of_a_group
} else := $"name a PodGroup in the annotation {_group_name} of every template"

_scheduler(pod_set) := pod_set.schedulerName if pod_set.schedulerName != ""

_scheduler(pod_set) := "no schedulerName" if pod_set.schedulerName == ""

_assumption(pod_set) := {} if pod_set.schedulerName != ""

_assumption(pod_set) := {"assumption": "usher assumes that the operator leaves templates without schedulerName to the default scheduler"} if {
	pod_set.schedulerName == ""
}
