package usher.checks.queueing.released_by_hand_test

import data.examples.checks.queueing.released_by_hand as examples
import data.usher.checks.queueing.released_by_hand as check

found(path, kind) := {{
	"path": path,
	"message": $"the {kind} is released by hand, but Kueue must first admit it through queue research",
	"remedy": "do not change suspend, and wait until Kueue admits the job",
}}

test_a_job_that_a_person_releases_is_found if {
	check.deny == found("/spec/suspend", "Job") with input as examples.bad_job
	check.deny == found("/spec/runPolicy/suspend", "MPIJob") with input as examples.bad_mpijob
	of_hyperpod := object.union(examples.bad_mpijob, {"workload": {
		"group": "sagemaker.amazonaws.com",
		"kind": "HyperPodPyTorchJob",
	}})
	check.deny == found("/spec/runPolicy/suspend", "HyperPodPyTorchJob") with input as of_hyperpod
}

test_the_queue_that_the_change_names_is_told if {
	moved := json.patch(examples.bad_job, [{
		"op": "replace",
		"path": "/old/labels/kueue.x-k8s.io~1queue-name",
		"value": "urgent",
	}])
	check.deny == found("/spec/suspend", "Job") with input as moved
}

test_taking_the_label_away_in_the_same_change_does_not_help if {
	check.deny == found("/spec/suspend", "JobSet") with input as examples.bad_jobset_that_leaves_its_queue
}

test_kueue_administrators_and_controllers_may if {
	check.deny == set() with input as examples.good_job_that_kueue_admits
	every identity in ["administrators", "controllers"] {
		check.deny == set() with input as object.union(examples.bad_job, {"review": {"by": [identity]}})
	}
}

test_without_the_identity_of_kueue_it_rests_on_an_assumption if {
	undeclared := json.remove(examples.bad_job, ["/site/parameters"])
	expected := {object.union(finding, {"assumption": "usher assumes that Kueue is one of the controllers in usher.yaml"}) |
		some finding in found("/spec/suspend", "Job")
	}
	check.deny == expected with input as undeclared
}

test_a_job_in_no_queue_may_be_released if {
	check.deny == set() with input as examples.good_job_in_no_queue
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}

test_other_changes_are_good if {
	check.deny == set() with input as object.union(examples.bad_job, {"old": {"suspended": false}})
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"suspended": true}})
}

test_the_schedule_of_a_cron_job_is_not_for_kueue if {
	check.deny == set() with input as examples.good_cronjob
}

test_where_nobody_asks_nobody_released_it if {
	check.deny == set() with input as json.remove(examples.bad_job, ["/review"])
}
