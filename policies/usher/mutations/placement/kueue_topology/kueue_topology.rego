# METADATA
# title: Ask Kueue to keep the pods of a training job together
# description: |
#   The pods of a distributed job exchange data all the time, and every switch between them makes this slower. Where
#   usher.yaml names a topology for a queue, the webhook adds Kueue's topology annotation to the pod templates of
#   training jobs in that queue, and of models that span several pods. The placement is required or preferred, as
#   usher.yaml says. The webhook changes only templates that make several accelerator pods, because one pod cannot be
#   spread.
#   A leader and its workers are two templates, which Kueue would place one by one. If exactly two templates ask for
#   accelerators and one of them makes a single pod, the webhook gives both the same podset-group-name. It does so for
#   kinds whose groups Kueue validates.
#   Two placements of one pod contradict each other. The webhook therefore adds nothing if a template already sets a
#   topology annotation of Kueue, or if Volcano places the pods. The same holds if an exclusive topology or a required
#   pod affinity keeps the pods together. It does not change a template that spreads its pods over the same domains.
#   By the facts of the cluster it skips a level that no flavor of the queue has.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USM303
#   order: 40
#   about: accelerator pods
#   promises: [placement/several_topology_mechanisms, queueing/topology_by_kueue_and_volcano]
package usher.mutations.placement.kueue_topology

import data.usher.lib.cooperation
import data.usher.lib.kueue
import data.usher.lib.queueable
import data.usher.lib.routing
import data.usher.lib.topology
import data.usher.lib.workload

intents contains {
	"at": pod_set.path,
	"field": "annotation",
	"value": {"key": _annotations[wanted.mode], "value": wanted.level},
	"reason": $"usher.yaml asks queue {input.site.queue.localQueue} to keep training pods in one domain of {wanted.level}",
} if {
	wanted := input.site.queue.topology
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	_has_company(pod_set)
	not _spreads(pod_set)
}

intents contains {
	"at": pod_set.path,
	"field": "annotation",
	"value": {"key": kueue.pod_set_group, "value": "usher-gang"},
	"reason": "a leader and its workers exchange data, so Kueue places both in one domain",
} if {
	not _why_not
	some pod_set in _group
}

_has_company(pod_set) if topology.makes_more_than(pod_set, 1)

_has_company(pod_set) if {
	some member in _group
	member.path == pod_set.path
}

# Kueue accepts two members, one of them with a single pod. Each group of a LeaderWorkerSet has one leader.
_group := members if {
	kueue.judges_groups
	members := [pod_set |
		some pod_set in workload.accelerator_pod_sets
		pod_set.changeable
		not _spreads(pod_set)
	]
	count({member.path | some member in members}) == 2
	count(workload.accelerator_pod_sets) == 2
	_has_leader(members)
} else := []

_has_leader(_) if input.workload.kind == "LeaderWorkerSet"

_has_leader(members) if {
	some member in members
	member.pods == {"minimum": 1, "maximum": 1}
}

_annotations := {"required": kueue.required_topology, "preferred": kueue.preferred_topology}

_why_not := "usher.yaml names no topology for the queue of this workload" if not input.site.queue.topology

else := $"the role of the workload is {input.workload.role}, and the webhook keeps only training and models that span pods together" if not cooperation.computes_together

else := "each of its pods trains by itself, as far as its command tells" if {
	workload.makes_several_pods
	not input.workload.gang.wanted
	not cooperation.spans_pods
}

else := "a controller made this object, and Kueue places the owner" if input.workload.owned

else := $"Kueue cannot place the pods of a {input.workload.kind} together" if not _placed_together

else := $"the workload is in queue {kueue.queue_name}, but usher.yaml sets the topology for {input.site.queue.localQueue}" if {
	kueue.queue_name != input.site.queue.localQueue
}

else := "the workload is in no queue of Kueue" if not queueable.will_be_queued

else := "Kueue counts devices by node only where pods ask for them as resources" if _uncounted

else := "Volcano places its pods" if _by_volcano

else := "the scheduler of Kubernetes places its PodGroup" if routing.names_a_native_group

else := "a template already sets a topology annotation of Kueue" if count(kueue.topology_pod_sets) > 0

else := "another setting already keeps its pods together" if _kept_otherwise

_placed_together if kueue.queued_as_one

# Kueue queues the Jobs of a CronJob; this is their template.
_placed_together if {
	input.workload.kind == "CronJob"
	input.workload.group == "batch"
}

# Claims are not counted by node (kubernetes-sigs/kueue issue 10548), and Kueue does not read annotations.
_uncounted if {
	some pod_set in workload.accelerator_pod_sets
	some request in pod_set.requests
	request.route in ["device claim", "fraction annotation", "device annotation"]
}

_by_volcano if routing.to_volcano

_by_volcano if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}

_kept_otherwise if {
	some place in array.concat([input.workload], input.podSets)
	some key in array.concat(topology.exclusive_annotations, [topology.volcano_mode])
	place.annotations[key]
}

# KubeRay reads labels.
_kept_otherwise if input.workload.labels[topology.volcano_mode]

_kept_otherwise if {
	some pod_set in input.podSets
	count(pod_set.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution) > 0
}

_spreads(pod_set) if {
	some term in pod_set.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution
	topology.is_one_within(term.topologyKey, input.site.queue.topology.level)
}

_spreads(pod_set) if {
	some constraint in pod_set.topologySpreadConstraints
	constraint.whenUnsatisfiable == "DoNotSchedule"
	topology.is_one_within(constraint.topologyKey, input.site.queue.topology.level)
}

skips contains {"at": "", "reason": _why_not}

skips contains {"at": pod_set.path, "reason": "the template makes only one pod"} if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	not _has_company(pod_set)
}

skips contains {"at": pod_set.path, "reason": $"the template spreads its pods over {input.site.queue.topology.level} or larger domains"} if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	_has_company(pod_set)
	_spreads(pod_set)
}
