package usher.checks.objects.leader_worker_set_refused_test

import data.examples.checks.objects.leader_worker_set_refused as examples
import data.usher.checks.objects.leader_worker_set_refused as check

found(path, reason, remedy) := {{"path": path, "message": $"LeaderWorkerSet refuses this: {reason}", "remedy": remedy}}

_sub := "/spec/leaderWorkerTemplate/subGroupPolicy/subGroupSize"

_update := "/spec/rolloutStrategy/rollingUpdateConfiguration"

test_subgroups_are_equal if {
	check.deny == found(_sub, "a group of 6 pods has no whole subgroups of 4", "set subGroupSize to a divisor of 6 or 5") with input as examples.bad_parts
	check.deny == found(_sub, "a group of 4 pods has no whole subgroups of 2", "set subGroupSize to a divisor of 3, the size without the leader") with input as examples.bad_leader_excluded
}

test_a_subgroup_is_not_larger_than_the_group if {
	check.deny == found(_sub, "subGroupSize 4 is larger than the 2 pods of the group", "set subGroupSize to at most 2") with input as examples.bad_larger
}

test_an_update_makes_or_stops_groups if {
	reason := "maxSurge and maxUnavailable are both 0, so no update could begin"
	check.deny == found(_update, reason, "set maxUnavailable to 1") with input as examples.bad_update
	check.deny == found(_update, reason, "set maxUnavailable to 1") with input as examples.bad_update_in_percent
	check.deny == set() with input as json.patch(examples.bad_update, [{"op": "replace", "path": "/object/leaderWorkerSet/spec/replicas", "value": 0}])
}

test_the_annotation_needs_a_policy if {
	path := "/metadata/annotations/leaderworkerset.sigs.k8s.io~1subgroup-exclusive-topology"
	check.deny == found(path, "the annotation subgroup-exclusive-topology needs a subGroupPolicy", "set subGroupPolicy.subGroupSize") with input as examples.bad_annotation
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_subgroups
	check.deny == set() with input as examples.good_without_the_leader
	check.deny == set() with input as examples.good_leader_excluded
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as json.patch(examples.bad_parts, [{"op": "replace", "path": "/workload/owned", "value": true}])
}
