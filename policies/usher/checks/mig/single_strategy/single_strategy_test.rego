package usher.checks.mig.single_strategy_test

import data.examples.checks.mig.single_strategy as examples
import data.usher.checks.mig.single_strategy as check

test_slices_by_name_are_found_under_single if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb",
		"message": "container embeddings asks for nvidia.com/mig-1g.10gb, but no node offers it under the MIG strategy single",
		"remedy": "ask for nvidia.com/gpu, and choose the slice by the node label nvidia.com/gpu.product",
	}} with input as examples.bad_deployment
}

test_shares_of_slices_are_found_in_every_container if {
	remedy := "ask for nvidia.com/gpu, and choose the slice by the node label nvidia.com/gpu.product"
	check.deny == {
		{
			"path": "/spec/initContainers/0/resources/limits/nvidia.com~1mig-1g.10gb.shared",
			"message": "init container warm-up asks for nvidia.com/mig-1g.10gb.shared, but no node offers it under the MIG strategy single",
			"remedy": remedy,
		},
		{
			"path": "/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb.shared",
			"message": "container notebook asks for nvidia.com/mig-1g.10gb.shared, but no node offers it under the MIG strategy single",
			"remedy": remedy,
		},
	} with input as examples.bad_pod
}

test_slices_are_found_under_the_strategy_none if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-7g.80gb",
		"message": "container evaluate asks for nvidia.com/mig-7g.80gb, but no node offers it under the MIG strategy none",
		"remedy": "ask for nvidia.com/gpu, or have the nodes divided under the MIG strategy mixed",
	}} with input as examples.bad_job
}

test_slices_are_good_under_mixed if {
	check.deny == set() with input as examples.good_statefulset
}

test_slices_under_the_name_of_gpus_are_good if {
	check.deny == set() with input as examples.good_slices_as_gpus
}

test_nothing_is_found_while_usher_yaml_names_no_strategy if {
	unsaid := json.remove(examples.bad_deployment, ["/site/parameters"])
	check.deny == set() with input as unsaid
}
