package usher.checks.isolation.visible_devices_set_by_hand_test

import data.examples.checks.isolation.visible_devices_set_by_hand as examples
import data.usher.checks.isolation.visible_devices_set_by_hand as check

uncounted(path, name, value) := {
	"path": path,
	"message": $"{name}: NVIDIA_VISIBLE_DEVICES {value} takes devices that no quota counts, because the container asks for no accelerator",
	"remedy": "remove NVIDIA_VISIBLE_DEVICES, and ask for the devices in limits",
}

test_values_that_show_no_device_are_good if {
	check.deny == set() with input as examples.good_job
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

unreadable(path, place) := {
	"path": path,
	"message": $"{place}: NVIDIA_VISIBLE_DEVICES takes its value from elsewhere (valueFrom or $(NAME)), so it can name any device of the node",
	"remedy": "remove NVIDIA_VISIBLE_DEVICES, and ask for the devices in limits",
}

test_a_value_from_elsewhere_can_name_any_device if {
	check.deny == {unreadable(
		"/spec/jobTemplate/spec/template/spec/containers/0/env/0",
		"container evaluate",
	)} with input as examples.bad_cronjob
}

test_a_reference_to_another_variable_can_name_any_device_in_a_debug_container_too if {
	check.deny == {object.union(
		unreadable("/spec/ephemeralContainers/0/env/0", "ephemeral container debugger"),
		{"remedy": "remove NVIDIA_VISIBLE_DEVICES"},
	)} with input as examples.bad_reference
}

test_channels_between_nodes_come_from_a_claim if {
	check.deny == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/spec/containers/0/env/0",
		"message": `container train of ranks: NVIDIA_IMEX_CHANNELS "0" opens memory of other nodes that no device claim gave to the container`,
		"remedy": "remove NVIDIA_IMEX_CHANNELS, and use a claim of a ComputeDomain",
	}} with input as examples.bad_jobset
}

test_channels_from_elsewhere_can_be_any if {
	elsewhere := json.patch(
		examples.bad_jobset,
		[{"op": "remove", "path": "/podSets/0/containers/0/environment/NVIDIA_IMEX_CHANNELS/value"}],
	)
	{finding.message | some finding in check.deny} == {"container train of ranks: NVIDIA_IMEX_CHANNELS takes its value from elsewhere (valueFrom or $(NAME)), so it can open memory of other nodes"} with input as elsewhere
}

test_a_debug_container_can_use_no_claim if {
	debug := json.patch(
		examples.bad_jobset,
		[{"op": "replace", "path": "/podSets/0/containers/0/type", "value": "ephemeral container"}],
	)
	{finding.remedy | some finding in check.deny} == {"remove NVIDIA_IMEX_CHANNELS"} with input as debug
}

test_runtimes_of_other_vendors_read_variables_too if {
	every name in [
		"AMD_VISIBLE_DEVICES",
		"ASCEND_RUNTIME_OPTIONS",
		"ASCEND_VISIBLE_DEVICES",
		"ASCEND_VNPU_SPECS",
		"AWS_NEURON_VISIBLE_DEVICES",
		"CAMBRICON_VISIBLE_DEVICES",
		"DOCKER_RESOURCE_GPU",
		"HABANA_VISIBLE_DEVICES",
		"HABANA_VISIBLE_DEVICES_",
		"IX_VISIBLE_DEVICES",
		"MTHREADS_VISIBLE_DEVICES",
	] {
		check.deny == {{
			"path": "/spec/template/spec/containers/0/env/0",
			"message": $"container vllm: {name} \"all\" takes devices that no quota counts, because the container asks for no accelerator",
			"remedy": $"remove {name}, and ask for the devices in limits",
		}} with input as with_variable(name, "all")
	}
}

test_variables_that_only_hide_devices_are_good if {
	check.deny == set() with input as with_variable("CUDA_VISIBLE_DEVICES", "0")
	check.deny == set() with input as with_variable("ASCEND_RT_VISIBLE_DEVICES", "0")
	check.deny == set() with input as with_variable("ASCEND_RUNTIME_OPTIONS", "NODRV")
	check.deny == set() with input as with_variable("NVIDIA_DRIVER_CAPABILITIES", "all")
}

test_a_name_of_a_vendor_that_usher_does_not_know_is_a_matter_of_the_node if {
	{entry.assumption | some entry in check.deny} == {"usher assumes that a container runtime of the node reads ACME_VISIBLE_DEVICES"} with input as with_variable("ACME_VISIBLE_DEVICES", "all")
}

test_a_switch_counts_where_it_is_on if {
	check.deny == set() with input as with_variable("NVIDIA_MOFED", "1")
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0",
		"message": `container vllm: NVIDIA_MOFED "enabled" opens all network cards of the node, which no quota counts`,
		"remedy": "remove NVIDIA_MOFED, and ask for network cards by their resource",
	}} with input as with_variable("NVIDIA_MOFED", "enabled")
	in_debug := json.patch(
		with_variable("NVIDIA_MOFED", "enabled"),
		[{"op": "replace", "path": "/podSets/0/containers/0/type", "value": "ephemeral container"}],
	)
	{entry.remedy | some entry in check.deny} == {"remove NVIDIA_MOFED"} with input as in_debug
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0",
		"message": `container vllm: NVIDIA_NVSWITCH "enabled" opens the control of the switches between all GPUs of the node`,
		"remedy": "remove NVIDIA_NVSWITCH",
	}} with input as with_variable("NVIDIA_NVSWITCH", "enabled")
	elsewhere := json.remove(
		with_variable("NVIDIA_NVSWITCH", "enabled"),
		["/podSets/0/containers/0/environment/NVIDIA_NVSWITCH/value"],
	)
	{entry.message | some entry in check.deny} == {"container vllm: NVIDIA_NVSWITCH takes its value from elsewhere (valueFrom or $(NAME)), so it can open more of the node"} with input as elsewhere
}

test_a_driver_for_the_gpus_of_a_container_is_left_to_another_check if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0",
		"message": `container vllm: NVIDIA_GDRCOPY "enabled" opens a driver of the node that no request names`,
		"remedy": "remove NVIDIA_GDRCOPY",
	}} with input as with_variable("NVIDIA_GDRCOPY", "enabled")
	with_gpus := json.patch(
		with_variable("NVIDIA_GDRCOPY", "enabled"),
		[{"op": "replace", "path": "/podSets/0/containers/0/asksAccelerators", "value": true}],
	)
	check.deny == set() with input as with_gpus
	brought := json.patch(
		with_gpus,
		[
			{"op": "remove", "path": "/podSets/0/containers/0/environment/NVIDIA_GDRCOPY"},
			{
				"op": "add",
				"path": "/podSets/0/containers/0/environmentSources",
				"value": [{"path": "/spec", "variables": {"NVIDIA_GDS": "enabled"}}],
			},
		],
	)
	check.deny == set() with input as brought
}

with_value(value) := with_variable("NVIDIA_VISIBLE_DEVICES", value)

with_variable(name, value) := json.patch(examples.bad_deployment, [{
	"op": "replace",
	"path": "/podSets/0/containers/0",
	"value": {
		"name": "vllm",
		"type": "container",
		"path": "/spec/template/spec/containers/0",
		"asksAccelerators": false,
		"environment": {name: {"path": "/spec/template/spec/containers/0/env/0", "value": value}},
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

with_sources(sources) := json.patch(with_variable("NCCL_DEBUG", "WARN"), [{
	"op": "add",
	"path": "/podSets/0/containers/0/environmentSources",
	"value": sources,
}])

brings(number, value) := {
	"path": $"/spec/template/spec/containers/0/envFrom/{number}",
	"variables": {"NVIDIA_VISIBLE_DEVICES": value},
}

test_a_known_config_map_brings_the_variable if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/envFrom/0",
		"message": `container vllm: envFrom brings NVIDIA_VISIBLE_DEVICES "all", which takes devices that no quota counts, because the container asks for no accelerator`,
		"remedy": "remove NVIDIA_VISIBLE_DEVICES from the ConfigMap",
	}} with input as with_sources([brings(0, "all")])
}

test_the_last_source_decides if {
	check.deny == set() with input as with_sources([brings(0, "all"), brings(1, "void")])
	count(check.deny) == 1 with input as with_sources([brings(0, "void"), brings(1, "all")])
	count(check.deny) == 1 with input as with_sources([brings(0, "all"), {"path": "/later", "variables": {}}])
}

test_an_entry_of_the_container_wins_over_its_sources if {
	sources := [{"op": "add", "path": "/podSets/0/containers/0/environmentSources", "value": [brings(0, "all")]}]
	check.deny == set() with input as json.patch(with_value("void"), sources)
}

test_a_source_that_usher_does_not_know_is_left_to_another_check if {
	check.deny == set() with input as with_sources([{"path": "/spec/template/spec/containers/0/envFrom/0"}])
}

test_other_variables_of_a_source_are_good if {
	other := {"path": "/source", "variables": {"NCCL_ALGO": "Ring"}}
	check.deny == set() with input as with_sources([other])
}

test_a_namespace_that_may_see_all_devices_may_take_them_from_sources if {
	allowed := json.patch(
		with_sources([brings(0, "all")]),
		[{"op": "replace", "path": "/site/systemNamespace", "value": true}],
	)
	check.deny == set() with input as allowed
}

# The webhook of KAI-Scheduler and its ConfigMap

_of_kai := examples.bad_pod_of_kai

_changed_by(path, value) := json.patch(_of_kai, [{"op": "replace", "path": path, "value": value}])

_variable := "/podSets/0/containers/0/environment/NVIDIA_VISIBLE_DEVICES/configMap"

test_the_entry_of_a_declared_kai_scheduler_only_warns if {
	some finding in check.deny with input as _of_kai
	finding.assumption == "usher assumes that only KAI-Scheduler writes ConfigMap \"train-x7k2p9d-shared-gpu-0\""
	some early in check.deny with input as _changed_by($"{_variable}/key", "RUNAI-VISIBLE-DEVICES")
	early.assumption
}

test_any_other_entry_is_refused[name] if {
	some name, document in {
		"another scheduler": _changed_by("/podSets/0/schedulerName", "default-scheduler"),
		"scheduler that usher.yaml does not use": json.patch(_of_kai, [{"op": "remove", "path": "/site/kaiSchedulers"}]),
		"another ConfigMap": _changed_by($"{_variable}/name", "mine"),
		"a longer name": _changed_by($"{_variable}/name", "train-x7k2p9d-shared-gpu-0-mine"),
		"another key": _changed_by($"{_variable}/key", "mine"),
		"no fraction": _changed_by("/podSets/0/requests", []),
		"a template": _changed_by("/workload/kind", "Job"),
		"no annotation": _changed_by("/podSets/0/annotations", {}),
		"an empty annotation": _changed_by("/podSets/0/annotations/runai~1shared-gpu-configmap", ""),
	}
	some finding in check.deny with input as document
	not finding.assumption
}
