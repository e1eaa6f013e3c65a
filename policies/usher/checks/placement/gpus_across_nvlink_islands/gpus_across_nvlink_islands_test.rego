package usher.checks.placement.gpus_across_nvlink_islands_test

import data.examples.checks.placement.gpus_across_nvlink_islands as examples
import data.usher.checks.placement.gpus_across_nvlink_islands as check

found(path, name, asked, islands, largest) := {
	"path": path,
	"message": $"{name} asks for {asked} GPUs, which splits an NVLink island: the selected nodes have islands of {islands}",
	"remedy": $"ask for at most {largest} GPUs, or for a multiple of {largest}",
}

test_a_part_of_a_second_island_is_found if {
	check.deny == {found("/spec/template/spec", "the pod", 6, "4", 4)} with input as examples.bad_job
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec",
		"Worker",
		7,
		"2 or 4",
		4,
	)} with input as examples.bad_pytorchjob
	check.deny == {found("/spec", "the pod", 3, "2", 2)} with input as examples.bad_pod
}

test_a_part_of_one_island_is_good if {
	check.deny == set() with input as examples.good_job
}

test_whole_islands_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_nodes_without_islands_are_good if {
	none := json.patch(examples.bad_job, [{
		"op": "replace",
		"path": "/podSets/0/numbers/gpu.nvidia.com~1nvlink-gpus-per-island",
		"value": [0],
	}])
	check.deny == set() with input as none
}

test_another_label_may_tell_of_islands if {
	check.deny == set() with input as examples.good_pod
	named := {"site": {"parameters": {"placement/gpus_across_nvlink_islands": {"label": "example.com/island"}}}}
	check.deny == {found("/spec", "the pod", 6, "4", 4)} with input as object.union(examples.good_pod, named)
}
