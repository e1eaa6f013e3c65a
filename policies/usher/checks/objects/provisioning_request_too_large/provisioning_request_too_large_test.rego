package usher.checks.objects.provisioning_request_too_large_test

import data.examples.checks.objects.provisioning_request_too_large as examples
import data.usher.checks.objects.provisioning_request_too_large as check

found(pods) := {{
	"path": "/spec/podSets",
	"message": $"the request orders nodes for {pods} pods, more than the maximum of 64, and no quota counts them",
	"remedy": "ask for at most 64 pods, or have the maximum raised",
}}

test_a_request_for_very_many_pods_is_found if {
	check.deny == found(1000) with input as examples.bad_one_pod_set
	check.deny == found(1000) with input as examples.bad_of_v1beta1
}

test_the_pods_of_all_pod_sets_count if {
	check.deny == found(65) with input as examples.bad_two_pod_sets
}

test_the_maximum_itself_is_good if {
	check.deny == set() with input as examples.good_request
}

test_kueue_and_administrators_may_ask_for_more if {
	check.deny == set() with input as examples.good_of_kueue
	check.deny == set() with input as object.union(examples.bad_one_pod_set, {"site": {"systemNamespace": true}})
}

test_usher_yaml_sets_the_maximum if {
	other := {"parameters": {"objects/provisioning_request_too_large": {"maximum": 1000}}}
	check.deny == set() with input as object.union(examples.bad_one_pod_set, {"site": other})
}
