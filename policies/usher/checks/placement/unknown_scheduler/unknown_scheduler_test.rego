package usher.checks.placement.unknown_scheduler_test

import data.examples.checks.placement.unknown_scheduler as examples
import data.usher.checks.placement.unknown_scheduler as check

found(path, name, scheduler) := {
	"path": path,
	"message": $"{name} names the scheduler \"{scheduler}\", which usher does not know",
	"remedy": "name a scheduler that this cluster runs, or remove schedulerName",
}

test_a_scheduler_that_nobody_knows_is_found if {
	check.deny == {found("/spec/schedulerName", "the pod", "my-scheduler")} with input as examples.bad_pod
	check.deny == {found(
		"/spec/workerGroupSpecs/0/template/spec/schedulerName",
		"gpu",
		"gpu-packer",
	)} with input as examples.bad_raycluster
}

test_of_several_templates_the_one_is_named if {
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/schedulerName",
		"Worker",
		"volcanoo",
	)} with input as examples.bad_pytorchjob
}

test_the_default_and_the_known_ones_are_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_deployment
}

test_a_scheduler_of_the_routing_is_good if {
	check.deny == set() with input as examples.good_mpijob
}

test_so_is_kai_scheduler_under_another_name if {
	routed := object.union(examples.bad_pod, {"site": {"kaiSchedulers": ["my-scheduler"]}})
	check.deny == set() with input as routed
}

test_pods_without_accelerators_are_left_alone if {
	check.deny == set() with input as examples.good_cpu_pod
}

test_usher_yaml_may_name_others if {
	named := {"site": {"parameters": {"placement/unknown_scheduler": {"schedulers": ["my-scheduler"]}}}}
	check.deny == set() with input as object.union(examples.bad_pod, named)
	check.deny == {found(
		"/spec/template/spec/schedulerName",
		"the pod",
		"kai-scheduler",
	)} with input as object.union(examples.good_job, named)
}
