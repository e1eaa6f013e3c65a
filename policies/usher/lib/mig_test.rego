package usher.lib.mig_test

import data.usher.lib.mig

profile := {"name": "1g.10gb", "slices": 1, "shared": false, "boards": ["H100-80"], "known": true, "whole": false}

container(accelerators) := {"path": "/spec/containers/0", "accelerators": accelerators}

pod_set := {
	"mig": {"profiles": {"nvidia.com/mig-1g.10gb": profile}},
	"containers": [
		container({"nvidia.com/mig-1g.10gb": {"limits": {"value": 2}}}),
		container({"nvidia.com/mig-1g.10gb": {"limits": {"value": 0}}}),
		container({"nvidia.com/gpu": {"limits": {"value": 1}}}),
	],
}

test_slices_are_what_containers_ask_for_and_not_what_they_name_with_0 if {
	mig.slices == [{
		"podSet": pod_set,
		"container": pod_set.containers[0],
		"name": "nvidia.com/mig-1g.10gb",
		"profile": profile,
		"count": 2,
	}] with input as {"podSets": [{"containers": []}, pod_set]}
}

test_gpus_are_slices_where_the_node_selector_says_so if {
	gpus := {
		"mig": {"profiles": {}, "selectedProfile": profile},
		"containers": [
			container({"nvidia.com/gpu": {"requests": {"value": 3}}}),
			container({"nvidia.com/gpu": {"requests": {"value": 0}}}),
		],
	}
	mig.slices_as_gpus == [{
		"podSet": gpus,
		"container": gpus.containers[0],
		"name": "nvidia.com/gpu",
		"profile": profile,
		"count": 3,
	}] with input as {"podSets": [pod_set, gpus]}
	[slice.count | some slice in mig.own_slices] == [2, 3] with input as {"podSets": [pod_set, gpus]}
}

test_shares_of_slices_are_nobodys_own if {
	shared := object.union(pod_set, {"mig": {"profiles": {"nvidia.com/mig-1g.10gb": {"shared": true}}}})
	count(mig.slices) == 1 with input as {"podSets": [shared]}
	mig.own_slices == [] with input as {"podSets": [shared]}
}

test_a_resource_is_found_in_the_limits_before_the_requests if {
	both := {"requests": {"value": 1}, "limits": {"value": 1}}
	mig.path(container({"a": both}), "a") == "/spec/containers/0/resources/limits/a"
	mig.path(container({"a": {"requests": {"value": 1}}}), "a") == "/spec/containers/0/resources/requests/a"
}

test_slices_are_said_to_be_those_of_a_pod if {
	mig.of_one_pod({"name": "Worker"}) == "the slices of one pod of Worker"
	mig.of_one_pod({"name": ""}) == "the slices of the pod"
}
