package usher.checks.gang.minimum_below_all_pods_test

import data.examples.checks.gang.minimum_below_all_pods as examples
import data.usher.checks.gang.minimum_below_all_pods as check

found(path, minimum, asking, remedy) := {{
	"path": $"{path}/minAvailable",
	"message": $"minAvailable is {minimum}, so the job can start with only a part of its {asking} pods with accelerators",
	"remedy": $"set minAvailable to {remedy}, or remove it",
}}

test_a_part_of_the_replicas_is_found_over_all_pod_sets_together if {
	check.deny == found("/spec/runPolicy/schedulingPolicy", 7, 8, 8) with input as examples.bad_pytorchjob
}

test_all_of_them_are_good if {
	whole := json.patch(examples.bad_pytorchjob, [
		{"op": "replace", "path": "/workload/gang/minimum", "value": 8},
	])
	check.deny == set() with input as whole
}

test_without_a_minimum_all_start_together if {
	without := json.patch(examples.bad_pytorchjob, [{"op": "remove", "path": "/workload/gang/minimum"}])
	check.deny == set() with input as without
}

test_a_launcher_without_accelerators_may_come_later if {
	check.deny == set() with input as examples.good_mpijob_without_its_launcher
}

test_an_elastic_job_needs_no_more_than_its_least if {
	check.deny == set() with input as examples.good_elastic_pytorchjob
	check.deny == found("/spec/runPolicy/schedulingPolicy", 3, 8, 8) with input as examples.bad_elastic_pytorchjob
	grown := json.patch(examples.good_elastic_pytorchjob, [
		{"op": "replace", "path": "/object/pytorchJob/spec/elasticPolicy/minReplicas", "value": 9},
		{"op": "replace", "path": "/workload/gang/minimum", "value": 8},
	])
	check.deny == set() with input as grown
}

test_a_part_of_the_tasks_is_found if {
	check.deny == found("/spec", 3, 4, 5) with input as examples.bad_volcano_job
	check.deny == set() with input as examples.good_volcano_job
}

test_a_part_of_one_task_is_found_where_the_job_says_nothing if {
	expected := {{
		"path": "/spec/jobTemplate/spec/tasks/0/minAvailable",
		"message": "minAvailable of task worker is 2, so the job can start with only a part of its 4 pods",
		"remedy": "set minAvailable to 4, or remove it",
	}}
	check.deny == expected with input as examples.bad_volcano_cronjob
	nothing := json.patch(examples.bad_volcano_cronjob, [
		{"op": "add", "path": "/object/volcanoCronJob/spec/jobTemplate/spec/minAvailable", "value": 0},
	])
	check.deny == expected with input as nothing
}

test_the_minimum_of_the_job_overrides_that_of_its_tasks if {
	said := json.patch(examples.bad_volcano_cronjob, [
		{"op": "add", "path": "/object/volcanoCronJob/spec/jobTemplate/spec/minAvailable", "value": 4},
	])
	check.deny == set() with input as said
}

test_a_task_without_accelerators_may_come_later if {
	check.deny == set() with input as examples.good_volcano_job_whose_driver_may_wait
}

test_a_task_without_replicas_makes_no_pods if {
	none := json.patch(examples.bad_volcano_job, [{"op": "remove", "path": "/object/volcanoJob/spec/tasks/1/replicas"}])
	check.deny == set() with input as none
}

test_pods_that_do_not_wait_for_each_other_may_start_one_by_one if {
	every example in [examples.bad_pytorchjob, examples.bad_volcano_job, examples.bad_volcano_cronjob] {
		check.deny == set() with input as object.union(example, {"workload": {"role": "batch"}})
	}
}

test_the_size_of_other_kinds_is_no_minimum_of_theirs if {
	other := object.union(examples.bad_pytorchjob, {"workload": {"group": "leaderworkerset.x-k8s.io"}})
	check.deny == set() with input as other
}
