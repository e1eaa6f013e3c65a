package usher.checks.placement.refused_by_autopilot_test

import data.examples.checks.placement.refused_by_autopilot as examples
import data.usher.checks.placement.refused_by_autopilot as check

without_type(path) := {
	"path": path,
	"message": "the pod asks for GPUs and selects neither cloud.google.com/gke-accelerator nor a ComputeClass, so GKE Autopilot refuses it",
	"remedy": "select the type of the GPU, for example cloud.google.com/gke-accelerator: nvidia-l4",
}

test_a_node_pool_is_found if {
	check.deny == {
		{
			"path": "/spec/template/spec/nodeSelector",
			"message": "the pod selects cloud.google.com/gke-nodepool, which GKE Autopilot refuses",
			"remedy": "select cloud.google.com/gke-accelerator or cloud.google.com/compute-class in its place",
		},
		without_type("/spec/template/spec/nodeSelector"),
	} with input as examples.bad_job
}

test_gpus_without_a_type_are_found if {
	check.deny == {without_type("/spec/template/spec")} with input as examples.bad_without_type
}

test_the_type_is_good if {
	check.deny == set() with input as examples.good_job
}
