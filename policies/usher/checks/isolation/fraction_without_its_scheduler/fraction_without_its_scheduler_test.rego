package usher.checks.isolation.fraction_without_its_scheduler_test

import data.examples.checks.isolation.fraction_without_its_scheduler as examples
import data.usher.checks.isolation.fraction_without_its_scheduler as check

finding(path, name, annotation, scheduler) := {
	"path": path,
	"message": $"{name} asks for a share of a GPU by the annotation {annotation}, but {scheduler} does not read this annotation",
	"remedy": "set schedulerName to a scheduler that shares GPUs, or ask for whole GPUs or slices in limits",
}

test_the_default_scheduler_reads_no_shares_whatever_the_labels_say if {
	check.deny == {finding(
		"/metadata/annotations/gpu-fraction",
		"the pod",
		"gpu-fraction",
		"the default scheduler",
	)} with input as examples.bad_pod
}

test_another_scheduler_does_not_read_the_annotation if {
	check.deny == {finding(
		"/spec/template/metadata/annotations/gpu-memory",
		"the pod",
		"gpu-memory",
		"volcano",
	)} with input as examples.bad_job
}

test_kuberay_names_the_scheduler_only_where_the_cluster_has_a_queue_of_it if {
	shared := finding(
		"/spec/workerGroupSpecs/0/template/metadata/annotations/gpu-fraction",
		"shared",
		"gpu-fraction",
		"the default scheduler",
	)
	check.deny == {shared} with input as examples.bad_raycluster
	check.deny == set() with input as examples.good_raycluster
}

test_what_a_template_of_ray_names_itself_counts if {
	[head, worker] := examples.good_raycluster.podSets
	named := object.union(worker, {"schedulerName": "volcano"})
	check.deny == {finding(
		"/spec/workerGroupSpecs/0/template/metadata/annotations/gpu-fraction",
		"shared",
		"gpu-fraction",
		"volcano",
	)} with input as object.union(examples.good_raycluster, {"podSets": [head, named]})
}

test_shares_on_their_scheduler_and_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_statefulset
	check.deny == set() with input as examples.good_whole_gpus
}

test_usher_yaml_says_which_schedulers_share_gpus if {
	other := {"site": {"parameters": {"isolation/fraction_without_its_scheduler": {"schedulers": ["volcano"]}}}}
	check.deny == set() with input as object.union(examples.bad_job, other)
	check.deny == {finding(
		"/spec/template/metadata/annotations/gpu-fraction",
		"the pod",
		"gpu-fraction",
		"kai-scheduler",
	)} with input as object.union(examples.good_statefulset, other)
}
