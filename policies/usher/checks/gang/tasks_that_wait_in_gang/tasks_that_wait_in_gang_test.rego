package usher.checks.gang.tasks_that_wait_in_gang_test

import data.examples.checks.gang.tasks_that_wait_in_gang as examples
import data.usher.checks.gang.tasks_that_wait_in_gang as check

found(path, minimum, first) := {{
	"path": $"{path}/dependsOn",
	"message": $"the gang needs {minimum} pods, but Volcano makes only {first} before this task, so no pod ever starts",
	"remedy": $"set minAvailable to {first}, or remove dependsOn",
}}

test_without_a_minimum_the_gang_is_all_pods if {
	check.deny == found("/spec/tasks/1", 9, 1) with input as examples.bad_job
}

test_a_minimum_above_the_pods_without_dependencies_is_found if {
	check.deny == found("/spec/tasks/1", 2, 1) with input as examples.bad_jobtemplate
	check.deny == found("/spec/jobTemplate/spec/tasks/1", 6, 4) with input as examples.bad_cronjob
}

test_a_minimum_of_pods_without_dependencies_is_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_cronjob
}

test_an_empty_dependency_does_not_wait if {
	check.deny == set() with input as examples.good_job_that_waits_for_nothing
}

test_another_check_reports_a_gang_larger_than_the_job if {
	minimum := "/object/volcanoJobTemplate/spec/minAvailable"
	largest := json.patch(examples.bad_jobtemplate, [{"op": "replace", "path": minimum, "value": 9}])
	check.deny == found("/spec/tasks/1", 9, 1) with input as largest
	larger := json.patch(examples.bad_jobtemplate, [{"op": "replace", "path": minimum, "value": 10}])
	check.deny == set() with input as larger
}

test_a_task_without_replicas_makes_no_pods if {
	none := json.patch(examples.bad_jobtemplate, [{"op": "remove", "path": "/object/volcanoJobTemplate/spec/tasks/0/replicas"}])
	check.deny == found("/spec/tasks/1", 2, 0) with input as none
}

test_a_launcher_that_waits_for_its_workers_is_not_in_their_gang if {
	check.deny == {{
		"path": "/spec/launcherCreationPolicy",
		"message": "the launcher is made only when the 2 workers are ready, but without minAvailable the mpi-operator counts it in their gang, so no pod ever starts",
		"remedy": "set schedulingPolicy.minAvailable to 2, or remove launcherCreationPolicy",
		"assumption": "usher assumes that the mpi-operator makes a PodGroup for the job",
	}} with input as examples.bad_mpijob
	check.deny == set() with input as examples.good_mpijob_that_counts_its_workers

	counted := json.patch(examples.bad_mpijob, [{"op": "add", "path": "/workload/gang/minimum", "value": 3}])
	check.deny == {{
		"path": "/spec/runPolicy/schedulingPolicy/minAvailable",
		"message": "the gang needs 3 pods, but the launcher is made only when the 2 workers are ready, so no pod ever starts",
		"remedy": "set schedulingPolicy.minAvailable to 2, or remove launcherCreationPolicy",
	}} with input as counted
}
