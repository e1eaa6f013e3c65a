package usher.main_test

import data.examples.checks.isolation.visible_devices_set_by_hand as examples
import data.usher.main

test_findings_say_of_which_check_they_are if {
	some {"check": "isolation/visible_devices_set_by_hand", "finding": finding} in main.findings.findings with input as examples.bad_deployment
	finding == {
		"path": "/spec/template/spec/containers/0/env/0",
		"message": `container vllm: NVIDIA_VISIBLE_DEVICES "GPU-7f6d7a5e-2b6e-4c1e-9a52-0f4f7cf5f..." overrides the devices that the device plugin assigns to the container`,
		"remedy": "remove NVIDIA_VISIBLE_DEVICES",
	}
}

test_what_is_unknown_says_in_which_check if {
	some {"check": "placement/gpu_node_affinity_present", "unknown": unknown} in main.findings.unknown with input as examples.bad_deployment
	unknown == {
		"path": "/spec/template/spec",
		"reason": "usher.yaml declares no node pool that offers what the pods ask for",
	}
}

test_intents_say_of_which_mutation_they_are if {
	main.intents == {
		"warnings": set(), "version": 1,
		"intents": {{
			"mutation": "placement/gpu_toleration",
			"intent": {
				"at": "/spec/template",
				"field": "toleration",
				"value": {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
				"reason": "nodes with this accelerator usually have the taint nvidia.com/gpu",
			},
		}},
	} with input as examples.bad_deployment
}

test_nothing_to_say_is_an_answer_too if {
	main.findings == {
		"version": 1, "findings": set(), "unknown": set(),
		"unprotected": false,
	} with input as examples.good_daemonset
	main.intents == {"warnings": set(), "version": 1, "intents": set()} with input as examples.good_daemonset
}

test_what_is_no_input_document_has_no_answer_at_all if {
	every document in [null, "nope", {}, {"podSets": null}] {
		not main.findings with input as document
		not main.intents with input as document
	}
}

test_nothing_else_is_found_in_an_object_that_is_too_large if {
	found := main.findings with input as data.examples.checks.objects.too_large_to_judge.bad_resources
	{each.check | some each in found.findings} == {"objects/too_large_to_judge"}
}
