package usher.checks.placement.more_gpus_than_selected_nodes_have_test

import data.examples.checks.placement.more_gpus_than_selected_nodes_have as examples
import data.usher.checks.placement.more_gpus_than_selected_nodes_have as check

found(path, name, asked, label, largest) := {
	"path": path,
	"message": $"{name} asks for {asked} GPUs on one node, but selects nodes whose label {label} is at most {largest}",
	"remedy": $"select nodes with at least {asked} GPUs, or ask for at most {largest}",
	"assumption": "usher assumes that the nodes do not share their GPUs by time-slicing",
}

test_more_than_the_selected_nodes_have_is_found if {
	check.deny == {found(
		"/spec/template/spec/nodeSelector",
		"the pod",
		8,
		"nvidia.com/gpu.count",
		4,
	)} with input as examples.bad_job
}

test_affinity_may_name_several_numbers if {
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/affinity",
		"Worker",
		8,
		"nvidia.com/gpu.count",
		4,
	)} with input as examples.bad_pytorchjob
}

test_what_all_containers_ask_for_counts if {
	check.deny == {found(
		"/spec/nodeSelector",
		"the pod",
		3,
		"karpenter.k8s.aws/instance-gpu-count",
		1,
	)} with input as examples.bad_pod
}

test_exactly_as_many_are_good if {
	check.deny == set() with input as examples.good_job
}

test_one_number_that_is_large_enough_will_do if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_other_labels_count_something_else if {
	check.deny == set() with input as examples.good_deployment
	named := {"site": {"parameters": {"placement/more_gpus_than_selected_nodes_have": {"labels": ["example.com/racks"]}}}}
	check.deny == {found(
		"/spec/template/spec/nodeSelector",
		"the pod",
		2,
		"example.com/racks",
		1,
	)} with input as object.union(examples.good_deployment, named)
}

test_other_accelerators_are_not_what_the_label_counts if {
	check.deny == set() with input as examples.good_pod_of_slices
}
