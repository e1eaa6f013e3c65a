package usher.checks.cost.gpus_per_pod_test

import data.examples.checks.cost.gpus_per_pod as examples
import data.usher.checks.cost.gpus_per_pod as check

test_all_containers_of_one_pod_are_counted_together_and_each_pod_set_by_itself if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template",
		"message": "each pod of Worker asks for 9 accelerators, more than the maximum of 8 for one pod",
		"remedy": "ask for at most 8 in each pod, and use more pods",
	}} with input as examples.bad_pytorchjob
}

test_a_namespace_may_have_a_ceiling_of_its_own if {
	check.deny == {{
		"path": "",
		"message": "the pod asks for 2 accelerators, more than the maximum of 1 for one pod",
		"remedy": "ask for at most 1 in each pod, and use more pods",
	}} with input as examples.bad_pod
}

test_without_a_word_in_usher_yaml_the_default_holds if {
	check.deny == {{
		"path": "/spec/template",
		"message": "the pod asks for 32 accelerators, more than the maximum of 16 for one pod",
		"remedy": "ask for at most 16 in each pod, and use more pods",
	}} with input as examples.bad_statefulset
}

test_the_ceiling_itself_is_good_however_many_pods_there_are if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_deployment
}

test_slices_do_not_count if {
	check.deny == set() with input as examples.good_pod_of_slices
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as examples.good_pod_of_a_job
}

test_shares_of_time_are_not_whole_gpus if {
	check.deny == set() with input as examples.good_shares
}
