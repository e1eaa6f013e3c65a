package usher.checks.resources.mixed_accelerators_test

import data.examples.checks.resources.mixed_accelerators as examples
import data.usher.checks.resources.mixed_accelerators as check

remedy := "ask for one type of accelerator in each container"

test_whole_gpus_and_slices_are_found_in_one_container if {
	check.deny == {{
		"path": "/spec/containers/0",
		"message": "container compare asks for nvidia.com/gpu and nvidia.com/mig-3g.40gb, but its programs can use only one type",
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_slices_of_two_profiles_and_devices_of_two_vendors_are_found if {
	check.deny == {
		{
			"path": "/spec/template/spec/initContainers/0",
			"message": "init container convert asks for amd.com/gpu and nvidia.com/gpu.shared, but no node offers them together",
			"remedy": remedy,
		},
		{
			"path": "/spec/template/spec/containers/0",
			"message": "container server asks for nvidia.com/mig-1g.10gb and nvidia.com/mig-2g.20gb, but its programs can use only one type",
			"remedy": remedy,
		},
	} with input as examples.bad_deployment
}

test_devices_of_other_vendors_are_known if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0",
		"message": "container benchmark asks for aws.amazon.com/neuron and google.com/tpu and gpu.intel.com/i915 and gpu.intel.com/xe and habana.ai/gaudi, but no node offers them together",
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_several_containers_may_use_several_types_and_none_of_a_type_is_no_type if {
	check.deny == set() with input as examples.good_pod_of_two_containers
}

test_memory_and_cores_belong_to_their_device if {
	check.deny == set() with input as examples.good_share_of_a_gpu
}
