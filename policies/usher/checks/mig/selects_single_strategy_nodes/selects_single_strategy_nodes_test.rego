package usher.checks.mig.selects_single_strategy_nodes_test

import data.examples.checks.mig.selects_single_strategy_nodes as examples
import data.usher.checks.mig.selects_single_strategy_nodes as check

remedy := "ask for nvidia.com/gpu on these nodes, or select nodes of the MIG strategy mixed"

test_nodes_whose_product_is_a_slice_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/nodeSelector/nvidia.com~1gpu.product",
		"message": `container embeddings asks for nvidia.com/mig-1g.10gb, but nodes with nvidia.com/gpu.product: "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb" do not offer nvidia.com/mig-*`,
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_nodes_of_the_strategy_single_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/nodeSelector/nvidia.com~1mig.strategy",
		"message": `container pytorch of Master asks for nvidia.com/mig-3g.40gb, but nodes with nvidia.com/mig.strategy: "single" do not offer nvidia.com/mig-*`,
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_nodes_that_are_not_divided_are_found if {
	check.deny == {{
		"path": "/spec/nodeSelector/nvidia.com~1mig.strategy",
		"message": `container notebook asks for nvidia.com/mig-1g.10gb.shared, but nodes with nvidia.com/mig.strategy: "none" do not offer nvidia.com/mig-*`,
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_nodes_of_the_strategy_mixed_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_slices_under_the_name_of_gpus_are_good_there if {
	check.deny == set() with input as examples.good_slices_as_gpus
}
