package usher.checks.cost.notebook_gpus_test

import data.examples.checks.cost.notebook_gpus as examples
import data.usher.checks.cost.notebook_gpus as check

test_a_notebook_with_more_than_the_ceiling_is_found if {
	check.deny == {{
		"path": "/spec/template",
		"message": "the interactive workload asks for 4 accelerators, more than the maximum of 2 for one pod",
		"remedy": "ask for fewer or for slices, and run work that needs more as a job",
	}} with input as examples.bad_notebook
}

test_a_pod_with_the_labels_of_one_is_found if {
	check.deny == {{
		"path": "",
		"message": "the interactive workload asks for 3 accelerators, more than the maximum of 2 for one pod",
		"remedy": "ask for fewer or for slices, and run work that needs more as a job",
	}} with input as examples.bad_jupyterhub_pod
}

test_a_namespace_may_have_none_for_them if {
	check.deny == {{
		"path": "/spec/template",
		"message": "the interactive workload asks for 1 accelerator, more than the maximum of 0 for one pod",
		"remedy": "ask for fewer or for slices, and run work that needs more as a job",
	}} with input as examples.bad_statefulset
}

test_the_ceiling_itself_is_good if {
	check.deny == set() with input as examples.good_notebook
}

test_slices_do_not_count if {
	check.deny == set() with input as examples.good_notebook_with_slices
}

test_jobs_may_hold_more if {
	check.deny == set() with input as examples.good_job
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as examples.good_pod_of_a_notebook
}

test_shares_of_time_are_not_whole_gpus if {
	check.deny == set() with input as examples.good_shares
}
