package usher.checks.resources.misspelt_accelerator_name_test

import data.examples.checks.resources.misspelt_accelerator_name as examples
import data.usher.checks.resources.misspelt_accelerator_name as check

test_a_misspelt_domain_is_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/nvida.com~1gpu",
		"message": `container server asks for "nvida.com/gpu", which no node offers`,
		"remedy": "did you mean nvidia.com/gpu?",
	}} with input as examples.bad_pod
}

test_a_plural_is_found_in_templates if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpus",
		"message": `container pytorch of Worker asks for "nvidia.com/gpus", which no node offers`,
		"remedy": "did you mean nvidia.com/gpu?",
	}} with input as examples.bad_pytorchjob
}

test_a_name_without_domain_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/gpu",
		"message": `container evaluate asks for "gpu", which no node offers`,
		"remedy": "did you mean nvidia.com/gpu?",
	}} with input as examples.bad_job
}

test_names_of_sites_pass if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_renamed
}
