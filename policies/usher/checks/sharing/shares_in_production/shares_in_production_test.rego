package usher.checks.sharing.shares_in_production_test

import data.examples.checks.sharing.shares_in_production as examples
import data.usher.checks.sharing.shares_in_production as check

remedy := "ask for a MIG slice or a whole GPU, on nodes whose GPUs are not shared"

test_shares_by_name_are_found_once if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu.shared",
		"message": `the pod runs on shares of GPUs ("nvidia.com/gpu.shared"), but its namespace is production`,
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_nodes_with_shared_gpus_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/nodeSelector/cloud.google.com~1gke-gpu-sharing-strategy",
		"message": `the pod runs on nodes with cloud.google.com/gke-gpu-sharing-strategy: "time-sharing", where several containers share a GPU, but its namespace is production`,
		"remedy": remedy,
	}} with input as examples.bad_statefulset
}

test_fractions_by_annotation_are_found if {
	check.deny == {{
		"path": "/spec/leaderWorkerTemplate/workerTemplate/metadata/annotations/gpu-memory",
		"message": `worker runs on shares of GPUs ("gpu-memory"), but its namespace is production`,
		"remedy": remedy,
	}} with input as examples.bad_leaderworkerset
}

test_slices_and_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_shares_elsewhere_are_good if {
	check.deny == set() with input as examples.good_staging
	check.deny == set() with input as json.remove(examples.bad_statefulset, ["/site/parameters"])
}
