package usher.checks.sharing.several_shares_test

import data.examples.checks.sharing.several_shares as examples
import data.usher.checks.sharing.several_shares as check

remedy := "ask for 1 share, or for whole GPUs on nodes that do not share them"

test_several_time_slices_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu.shared",
		"message": `container vllm asks for 2 of "nvidia.com/gpu.shared", but these are shares and may all come from one GPU`,
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_several_shares_of_slices_are_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/requests/nvidia.com~1mig-1g.10gb.shared",
		"message": `container notebook asks for 4 of "nvidia.com/mig-1g.10gb.shared", but these are shares and may all come from one GPU`,
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_several_gpus_are_found_on_nodes_that_share_them if {
	check.deny == {{
		"path": "/spec/workerGroupSpecs/0/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": `container ray-worker of gpu asks for 4 of "nvidia.com/gpu", but these are shares and may all come from one GPU`,
		"remedy": remedy,
	}} with input as examples.bad_raycluster
}

test_one_share_for_each_container_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_one_gpu_on_shared_nodes_is_good if {
	check.deny == set() with input as examples.good_one_gpu
}

test_several_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_whole_gpus
}

test_several_gpus_by_hami_are_different_ones if {
	check.deny == set() with input as examples.good_hami
}

test_other_devices_on_shared_nodes_are_good if {
	check.deny == set() with input as examples.good_slices_on_shared_nodes
}

test_shares_of_others_keep_their_own_rules if {
	check.deny == set() with input as examples.good_koordinator
}
