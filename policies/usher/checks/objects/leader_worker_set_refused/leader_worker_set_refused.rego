# METADATA
# title: The webhook of LeaderWorkerSet takes the sizes of a set
# description: |
#   LeaderWorkerSet refuses a set whose parts do not fit:
#
#   * Subgroups are equal: the size of the group, or the size without the leader, is a multiple of subGroupSize, and not
#     smaller. With the type LeaderExcluded the size without the leader is the multiple.
#   * A rolling update may make new groups first or stop old ones first: maxSurge and maxUnavailable are not both 0.
#   * The annotation subgroup-exclusive-topology needs a subGroupPolicy.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/lws/blob/main/pkg/webhooks/leaderworkerset_webhook.go
#     description: What the webhook of LeaderWorkerSet refuses
#   - ref: https://lws.sigs.k8s.io/docs/concepts/
#     description: LeaderWorkerSet on subgroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1501
#   about: accelerator pods
#   severity: high
#   why: The set is refused, and its servers never start.
#   remediation: |
#     Choose a subGroupSize that divides the size of the group, or the size without the leader. Set maxUnavailable to 1
#     where maxSurge is 0.
package usher.checks.objects.leader_worker_set_refused

_path := "/spec/leaderWorkerTemplate/subGroupPolicy"

deny contains finding if {
	not input.workload.owned
	some [path, reason, remedy] in _reasons
	finding := {"path": path, "message": $"LeaderWorkerSet refuses this: {reason}", "remedy": remedy}
}

_group := input.object.leaderWorkerSet.spec.leaderWorkerTemplate

_size := object.get(_group, "size", 1)

_sub := _group.subGroupPolicy.subGroupSize

_leader_excluded if _group.subGroupPolicy.subGroupPolicyType == "LeaderExcluded"

_reasons contains [$"{_path}/subGroupSize", reason, $"set subGroupSize to at most {_size}"] if {
	_sub > _size
	reason := $"subGroupSize {_sub} is larger than the {_size} pods of the group"
}

_reasons contains [$"{_path}/subGroupSize", reason, remedy] if {
	_sub > 0
	_sub <= _size
	not _divides(_size - 1)
	not _whole_group_counts
	reason := $"a group of {_size} pods has no whole subgroups of {_sub}"
	remedy := $"set subGroupSize to a divisor of {_sizes}"
}

_whole_group_counts if {
	not _leader_excluded
	_divides(_size)
}

_divides(number) if number % _sub == 0

_sizes := $"{_size - 1}, the size without the leader" if _leader_excluded

_sizes := $"{_size} or {_size - 1}" if not _leader_excluded

_reasons contains ["/spec/rolloutStrategy/rollingUpdateConfiguration", reason, "set maxUnavailable to 1"] if {
	update := input.object.leaderWorkerSet.spec.rolloutStrategy.rollingUpdateConfiguration
	object.get(input.object.leaderWorkerSet.spec, "replicas", 1) > 0
	_is_zero(object.get(update, "maxSurge", 0))
	_is_zero(object.get(update, "maxUnavailable", 1))
	reason := "maxSurge and maxUnavailable are both 0, so no update could begin"
}

_is_zero(0)

_is_zero("0%")

_key := "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"

_reasons contains [$"/metadata/annotations/{replace(_key, "/", "~1")}", reason, "set subGroupPolicy.subGroupSize"] if {
	_group
	input.workload.annotations[_key]
	not _group.subGroupPolicy
	reason := "the annotation subgroup-exclusive-topology needs a subGroupPolicy"
}
