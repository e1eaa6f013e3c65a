package usher.checks.resources.unknown_accelerator_name_test

import data.examples.checks.resources.unknown_accelerator_name as examples
import data.usher.checks.resources.unknown_accelerator_name as check

remedy := "correct the name, or declare it in usher.yaml under accelerators"

assumption := "usher judges by the name alone, because usher.yaml does not declare the resource"

test_known_accelerators_and_other_devices_are_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_deployment
}

test_a_renamed_resource_is_found_once_in_each_container if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/requests/example.com~1gpu-h100",
		"message": `container server: "example.com/gpu-h100" looks like an accelerator, but usher does not know it`,
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_deployment
}

test_a_placeholder_is_found_where_it_stands if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/$(GPU_RESOURCE)",
		"message": `container pytorch of Worker: "$(GPU_RESOURCE)" looks like an accelerator, but usher does not know it`,
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_pytorchjob
}

test_a_name_of_the_past_is_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/cloud-tpus.google.com~1v2",
		"message": `container model: "cloud-tpus.google.com/v2" looks like an accelerator, but usher does not know it`,
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_tpu_pod
}
