package usher.checks.priority.classes_differ_in_gang_test

import data.examples.checks.priority.classes_differ_in_gang as examples
import data.usher.checks.priority.classes_differ_in_gang as check

found(path, message) := {{
	"path": $"{path}/priorityClassName",
	"message": message,
	"remedy": "name the same priority class in every template",
}}

test_a_template_without_class_beside_one_with_is_found if {
	check.deny == found(
		"/spec/mpiReplicaSpecs/Launcher/template/spec",
		"Launcher has no priority class, but Worker of the same gang has priority class research",
	) with input as examples.bad_mpijob
	check.deny == found(
		"/spec/replicatedJobs/1/template/spec/template/spec",
		"workers has priority class research, but leader of the same gang has no priority class",
	) with input as examples.bad_jobset
}

test_a_template_that_differs_from_its_volcano_job_is_found if {
	check.deny == found(
		"/spec/tasks/1/template/spec",
		"scheduler has priority class research-spot, but worker of the same gang has priority class research",
	) with input as examples.bad_volcano_job
	check.deny == set() with input as examples.good_volcano_job
}

test_the_pod_that_submits_a_ray_job_may_differ if {
	check.deny == set() with input as examples.good_rayjob_with_submitter
}

test_pods_that_are_no_gang_may_differ if {
	check.deny == set() with input as examples.good_raycluster_with_spot_workers
}
