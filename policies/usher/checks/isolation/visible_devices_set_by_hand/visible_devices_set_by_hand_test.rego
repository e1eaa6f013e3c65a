package usher.checks.isolation.visible_devices_set_by_hand_test

import data.examples.checks.isolation.visible_devices_set_by_hand as examples
import data.usher.checks.isolation.visible_devices_set_by_hand as check

uncounted(path, name, value) := {
	"path": path,
	"message": $"{name}: NVIDIA_VISIBLE_DEVICES {value} takes GPUs that no quota counts, because the container asks for no accelerator",
	"remedy": "remove NVIDIA_VISIBLE_DEVICES, and ask for the GPUs in limits",
}

test_values_that_show_no_device_are_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_a_namespace_that_may_see_all_devices_is_left_alone if {
	check.deny == set() with input as examples.good_daemonset
}

test_a_system_namespace_is_left_alone if {
	system := json.patch(examples.bad_pod, [{"op": "replace", "path": "/site/systemNamespace", "value": true}])
	check.deny == set() with input as system
}

test_all_lists_of_containers_are_read_and_the_last_of_two_entries_counts if {
	check.deny == {
		uncounted("/spec/initContainers/0/env/0", "init container probe", `"0"`),
		uncounted("/spec/initContainers/1/env/0", "sidecar proxy", `"1"`),
		uncounted("/spec/containers/0/env/1", "container jupyter", `"all"`),
		object.union(
			uncounted("/spec/ephemeralContainers/0/env/0", "ephemeral container debugger", `"all"`),
			{"remedy": "remove NVIDIA_VISIBLE_DEVICES"},
		),
	} with input as examples.bad_pod
}

test_beside_a_request_the_variable_overrides_the_device_plugin if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0",
		"message": `container vllm: NVIDIA_VISIBLE_DEVICES "GPU-7f6d7a5e-2b6e-4c1e-9a52-0f4f7cf5f..." overrides the devices that the device plugin assigns to the container`,
		"remedy": "remove NVIDIA_VISIBLE_DEVICES",
	}} with input as examples.bad_deployment
}

test_a_request_of_another_task_does_not_count if {
	check.deny == {uncounted(
		"/spec/tasks/0/template/spec/containers/0/env/0",
		"container coordinator of master",
		`"all"`,
	)} with input as examples.bad_volcano_job
}

test_a_value_from_elsewhere_is_unknown if {
	check.deny == set() with input as examples.unknown_cronjob
	check.unknown == {{
		"path": "/spec/jobTemplate/spec/template/spec/containers/0/env/0",
		"reason": "container evaluate: NVIDIA_VISIBLE_DEVICES gets its value from elsewhere, so usher cannot read it",
	}} with input as examples.unknown_cronjob
}

with_value(value) := json.patch(examples.bad_deployment, [{
	"op": "replace",
	"path": "/podSets/0/containers/0",
	"value": {
		"name": "vllm",
		"type": "container",
		"path": "/spec/template/spec/containers/0",
		"asksAccelerators": false,
		"environment": {"NVIDIA_VISIBLE_DEVICES": {"path": "/spec/template/spec/containers/0/env/0", "value": value}},
	},
}])

test_whatever_names_a_device_is_found if {
	every value in ["0", "0,1", "all", "GPU-7f6d7a5e", "MIG-1c2d3e4f", "nvidia.com/gpu=all"] {
		check.deny == {uncounted(
			"/spec/template/spec/containers/0/env/0",
			"container vllm",
			json.marshal(value),
		)} with input as with_value(value)
	}
}

test_only_three_values_name_no_device if {
	every value in ["", "none", "void"] {
		check.deny == set() with input as with_value(value)
	}
}

test_a_reference_to_another_variable_is_unknown_in_a_debug_container_too if {
	check.deny == set() with input as examples.unknown_reference
	check.unknown == {{
		"path": "/spec/ephemeralContainers/0/env/0",
		"reason": "ephemeral container debugger: NVIDIA_VISIBLE_DEVICES gets its value from elsewhere, so usher cannot read it",
	}} with input as examples.unknown_reference
}
