package usher.checks.cost.job_without_deadline_test

import data.examples.checks.cost.job_without_deadline as examples
import data.usher.checks.cost.job_without_deadline as check

test_a_job_without_a_deadline_is_found if {
	check.deny == {{
		"path": "/spec/activeDeadlineSeconds",
		"message": "this Job has no deadline, so it holds its accelerators for as long as it hangs",
		"remedy": "set spec.activeDeadlineSeconds to more than the longest planned run",
	}} with input as examples.bad_job
}

test_the_deadline_stands_where_the_kind_keeps_it if {
	check.deny == {{
		"path": "/spec/jobTemplate/spec/activeDeadlineSeconds",
		"message": "this CronJob has no deadline, so it holds its accelerators for as long as it hangs",
		"remedy": "set spec.jobTemplate.spec.activeDeadlineSeconds to more than the longest planned run",
	}} with input as examples.bad_cronjob
	check.deny == {{
		"path": "/spec/activeDeadlineSeconds",
		"message": "this RayJob has no deadline, so it holds its accelerators for as long as it hangs",
		"remedy": "set spec.activeDeadlineSeconds to more than the longest planned run",
	}} with input as examples.bad_rayjob
	check.deny == {{
		"path": "/spec/activeDeadlineSeconds",
		"message": "this TrainJob has no deadline, so it holds its accelerators for as long as it hangs",
		"remedy": "set spec.activeDeadlineSeconds to more than the longest planned run",
	}} with input as examples.bad_trainjob
}

test_a_deadline_of_some_of_the_pods_is_none_of_the_job if {
	check.deny == {{
		"path": "/spec/runPolicy/activeDeadlineSeconds",
		"message": "this PyTorchJob has no deadline, so it holds its accelerators for as long as it hangs",
		"remedy": "set spec.runPolicy.activeDeadlineSeconds to more than the longest planned run",
	}} with input as examples.bad_pytorchjob
}

test_a_deadline_is_good_in_every_kind if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_cronjob
	check.deny == set() with input as examples.good_mpijob
	check.deny == set() with input as examples.good_rayjob
	check.deny == set() with input as examples.good_trainjob
}

test_a_deadline_of_all_pods_is_good if {
	check.deny == set() with input as examples.good_job_whose_pods_have_one
}

test_kueue_ends_a_job_too if {
	check.deny == set() with input as examples.good_job_that_kueue_ends
	check.deny == set() with input as examples.good_cronjob_that_kueue_ends
}

test_kinds_without_a_deadline_are_left_alone if {
	check.deny == set() with input as examples.good_jobset
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as examples.good_job_of_a_jobset
}
