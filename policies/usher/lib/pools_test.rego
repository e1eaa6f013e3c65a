package usher.lib.pools_test

import data.usher.lib.pools

a100 := {"pool": "a100", "labels": {}, "untolerated": [], "board": "A100-80"}

h100 := {"pool": "h100", "labels": {}, "untolerated": [], "board": "H100-80"}

unknown_board := {"pool": "other", "labels": {}, "untolerated": []}

of_gang(site, fits_of_each) := {
	"site": site,
	"workload": {"kind": "PyTorchJob", "labels": {}, "gang": {"wanted": true}, "pods": {"minimum": 2, "maximum": 2}},
	"podSets": [{"path": $"/{index}", "asksAccelerators": true, "fits": fits} | some index, fits in fits_of_each],
}

narrowing := {"narrowsGangs": true}

boards := "its pods may land on nodes with different boards (A100-80, H100-80), and all pods of a gang wait for the slowest"

test_a_gang_on_different_boards_is_told_unless_usher_yaml_narrows_it if {
	spread := of_gang({}, [[h100, a100]])
	pools.why_different_boards == $"{boards}; select the nodes of one pool, or set gangs.differentBoards of usher.yaml to narrow" with input as spread
	pools.fits(spread.podSets[0]) == [h100, a100] with input as spread
	not pools.is_narrowed(spread.podSets[0]) with input as spread
}

test_a_gang_is_kept_on_the_first_board_that_fits_all_its_pod_sets if {
	spread := of_gang(narrowing, [[h100, a100, unknown_board], [a100]])
	pools.fits(spread.podSets[0]) == [a100] with input as spread
	pools.is_narrowed(spread.podSets[0]) with input as spread
	pools.fits(spread.podSets[1]) == [a100] with input as spread
	not pools.is_narrowed(spread.podSets[1]) with input as spread
	not pools.why_different_boards with input as spread
	first := of_gang(narrowing, [[h100, a100]])
	pools.fits(first.podSets[0]) == [h100] with input as first
}

test_a_gang_without_a_common_board_is_told if {
	apart := of_gang(narrowing, [[h100], [a100]])
	pools.why_different_boards == $"{boards}; no board fits all its pod sets, so select the nodes of one" with input as apart
	pools.fits(apart.podSets[0]) == [h100] with input as apart
}

test_one_board_one_pod_no_gang_and_kueue_change_nothing if {
	every fits in [[h100], [h100, unknown_board], [unknown_board]] {
		not pools.why_different_boards with input as of_gang({}, [fits])
	}
	spread := of_gang(narrowing, [[h100, a100]])
	every patch in [
		{"op": "replace", "path": "/workload/gang/wanted", "value": false},
		{"op": "replace", "path": "/workload/pods/maximum", "value": 1},
		{"op": "add", "path": "/workload", "value": object.union(spread.workload, {
			"queueLabelPath": "/metadata",
			"labels": {"kueue.x-k8s.io/queue-name": "research"},
		})},
	] {
		changed := json.patch(spread, [patch])
		pools.fits(spread.podSets[0]) == [h100, a100] with input as changed
		not pools.why_different_boards with input as changed
	}
}

test_pods_that_fit_a_pool_for_others_are_narrowed_to_their_own if {
	kept_off := {"fits": [h100], "keptOff": [{"pool": "a100", "reason": "it is for others"}]}
	pools.is_narrowed(kept_off) with input as of_gang({}, [])
	not pools.is_narrowed(object.union(kept_off, {"fits": []})) with input as of_gang({}, [])
}
