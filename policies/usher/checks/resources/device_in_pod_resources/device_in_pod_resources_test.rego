package usher.checks.resources.device_in_pod_resources_test

import data.examples.checks.resources.device_in_pod_resources as examples
import data.usher.checks.resources.device_in_pod_resources as check

remedy := "move it into resources.limits of the container that uses it"

test_an_accelerator_is_found_though_no_container_asks_for_any if {
	check.deny == {{
		"path": "/spec/resources/limits/nvidia.com~1gpu",
		"message": `the pod asks for "nvidia.com/gpu" in the resources of the whole pod, which allow only cpu, memory and huge pages`,
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_it_is_found_in_both_lists_and_beside_containers_that_ask_too if {
	message := `the pod asks for "nvidia.com/gpu" in the resources of the whole pod, which allow only cpu, memory and huge pages`
	check.deny == {
		{
			"path": "/spec/template/spec/resources/requests/nvidia.com~1gpu",
			"message": message,
			"remedy": remedy,
		},
		{
			"path": "/spec/template/spec/resources/limits/nvidia.com~1gpu",
			"message": message,
			"remedy": remedy,
		},
	} with input as examples.bad_deployment
}

test_other_devices_are_found_in_the_templates_of_other_kinds if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/resources/requests/rdma~1ib",
		"message": `Worker asks for "rdma/ib" in the resources of the whole pod, which allow only cpu, memory and huge pages`,
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_a_name_is_escaped_in_its_path if {
	patches := [{"op": "add", "path": "/podSets/0/podLimits/example.com~1a~0b", "value": {}}]
	check.deny == {{
		"path": "/spec/resources/limits/example.com~1a~0b",
		"message": `the pod asks for "example.com/a~b" in the resources of the whole pod, which allow only cpu, memory and huge pages`,
		"remedy": remedy,
	}} with input as json.patch(examples.good_pod, patches)
}

test_cpu_memory_and_huge_pages_are_good if {
	check.deny == set() with input as examples.good_pod
}

test_without_resources_of_the_pod_there_is_nothing_to_say if {
	check.deny == set() with input as examples.good_job
}
