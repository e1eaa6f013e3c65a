package usher.checks.objects.mig_config_failed_test

import data.examples.checks.objects.mig_config_failed as examples
import data.usher.checks.objects.mig_config_failed as check

test_a_node_that_could_not_be_divided_is_found if {
	check.deny == {{
		"path": "/metadata/labels/nvidia.com~1mig.config.state",
		"message": "the MIG manager could not divide the GPUs of the node as its label nvidia.com/mig.config says",
		"remedy": "read the log of nvidia-mig-manager on the node, and set the label again",
	}} with input as examples.bad_failed
}

test_it_is_found_without_the_wanted_layout if {
	check.deny == {{
		"path": "/metadata/labels/nvidia.com~1mig.config.state",
		"message": "the MIG manager could not divide the GPUs of the node as its label nvidia.com/mig.config says",
		"remedy": "read the log of nvidia-mig-manager on the node, and set the label again",
	}} with input as examples.bad_without_wanted
}

test_gpus_that_are_not_divided_alike_are_found if {
	check.deny == {{
		"path": "/metadata/labels/nvidia.com~1gpu.product",
		"message": "the GPUs of the node are not all divided in the same way, so under the MIG strategy single it offers no GPUs",
		"remedy": "divide all GPUs in the same way, or use the MIG strategy mixed",
	}} with input as examples.bad_invalid
}

test_a_node_that_was_divided_is_good if {
	check.deny == set() with input as examples.good_success
}

test_a_node_that_is_being_divided_is_good if {
	check.deny == set() with input as examples.good_pending
}

test_other_nodes_are_good if {
	check.deny == set() with input as examples.good_whole
}

test_partitions_of_amd_are_found if {
	check.deny == {{
		"path": "/metadata/labels/dcm.amd.com~1gpu-config-profile-state",
		"message": "the Device Config Manager could not partition the GPUs of the node as its label dcm.amd.com/gpu-config-profile says",
		"remedy": "read the log of the config manager and its Events on the node: the profile must exist, assign all GPUs, and find no pod on them",
	}} with input as examples.bad_amd
}
