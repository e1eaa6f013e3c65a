package usher.checks.priority.raised_while_running_test

import data.examples.checks.priority.raised_while_running as examples
import data.usher.checks.priority.raised_while_running as check

found(path, before, after) := {{
	"path": path,
	"message": $`the priority class of a running workload changes from "{before}" to "{after}"`,
	"remedy": $"keep {before}, or recreate the workload",
}}

label := "/metadata/labels/kueue.x-k8s.io~1priority-class"

test_a_running_workload_whose_class_changes_is_found if {
	check.deny == found(label, "spot-training", "production-inference") with input as examples.bad_job
	check.deny == found(label, "research-training", "production-inference") with input as examples.bad_raycluster
	check.deny == found("/spec/priorityClassName", "research", "inference-critical") with input as examples.bad_volcano_job
}

test_a_workload_that_waits_may_change_its_class if {
	check.deny == set() with input as examples.good_job_that_waits
}

test_administrators_may_change_every_class if {
	check.deny == set() with input as examples.good_job_changed_by_an_administrator
}

test_the_same_class_is_good if {
	check.deny == set() with input as examples.good_job_with_its_class
	check.deny == set() with input as examples.good_volcano_job_with_its_class
}

test_a_new_workload_chooses_its_class if {
	check.deny == set() with input as examples.good_new_job
}

test_a_class_that_comes_or_goes_is_left_to_kueue if {
	added := json.patch(examples.bad_job, [{"op": "replace", "path": "/old/labels/kueue.x-k8s.io~1priority-class", "value": ""}])
	check.deny == set() with input as added
	removed := json.patch(examples.bad_job, [{"op": "remove", "path": "/workload/labels/kueue.x-k8s.io~1priority-class"}])
	check.deny == set() with input as removed
}

test_of_a_cron_job_only_jobs_to_come_change if {
	check.deny == set() with input as examples.good_cronjob
	labelled := object.union(examples.good_cronjob, {"old": {"labels": {"kueue.x-k8s.io/priority-class": "spot-training"}}})
	check.deny == set() with input as labelled
}

test_in_ci_nobody_changes_anything if {
	check.deny == set() with input as json.remove(examples.bad_job, ["/review"])
}
