package usher.checks.cost.gpus_per_workload_test

import data.examples.checks.cost.gpus_per_workload as examples
import data.usher.checks.cost.gpus_per_workload as check

test_more_than_the_ceiling_is_found_over_all_pod_sets_together if {
	check.deny == {{
		"path": "",
		"message": "the pods ask for 72 accelerators together, but usher.yaml allows one workload at most 64",
		"remedy": "ask for at most 64, or ask the administrators of the cluster for a higher maximum",
	}} with input as examples.bad_pytorchjob
}

test_an_autoscaler_counts_at_its_largest if {
	check.deny == {{
		"path": "",
		"message": "the pods ask for 80 accelerators together, but usher.yaml allows one workload at most 64",
		"remedy": "ask for at most 64, or ask the administrators of the cluster for a higher maximum",
	}} with input as examples.bad_raycluster
}

test_what_has_no_bound_counts_as_the_least_that_there_will_be if {
	check.deny == {{
		"path": "",
		"message": "the pods ask for 96 accelerators together, but usher.yaml allows one workload at most 64",
		"remedy": "ask for at most 64, or ask the administrators of the cluster for a higher maximum",
	}} with input as examples.bad_knative_service
}

test_the_ceiling_itself_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_another_namespace_may_have_a_higher_ceiling if {
	check.deny == set() with input as examples.good_pretraining
}

test_slices_do_not_count if {
	check.deny == set() with input as examples.good_deployment_of_slices
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_pytorchjob, {"workload": {"owned": true}})
}

test_a_template_makes_no_pods_by_itself if {
	check.deny == set() with input as object.union(examples.bad_pytorchjob, {"workload": {"isTemplate": true}})
}

test_without_a_word_in_usher_yaml_the_default_holds if {
	workload := object.union(examples.bad_pytorchjob.workload, {"totals": [{
		"name": "nvidia.com/gpu",
		"route": "extended resource",
		"minimum": {"value": 513, "text": "513", "whole": true},
		"maximum": {"value": 513, "text": "513", "whole": true},
	}]})
	check.deny == {{
		"path": "",
		"message": "the pods ask for 513 accelerators together, but by default usher allows one workload at most 512",
		"remedy": "ask for at most 512, or ask the administrators of the cluster for a higher maximum",
	}} with input as {"workload": workload, "podSets": [], "site": {}}
}

test_shares_of_time_are_not_whole_gpus if {
	check.deny == set() with input as examples.good_shares
}
