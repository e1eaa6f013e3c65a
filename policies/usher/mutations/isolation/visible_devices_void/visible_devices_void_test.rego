package usher.mutations.isolation.visible_devices_void_test

import data.examples.mutations.isolation.visible_devices_void as examples
import data.usher.mutations.isolation.visible_devices_void as mutation

void(container) := {
	"at": container,
	"field": "enforcedEnvironment",
	"value": {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
	"reason": "the container asks for no GPU, but its image may make all GPUs visible",
}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_a_pod_that_asks_for_no_gpu_sees_none if {
	mutation.intents == {void("/spec/containers/0")} with input as examples.before_pod
	mutation.skips == set() with input as examples.before_pod
}

test_the_devices_of_other_vendors_are_hidden_where_pools_offer_them if {
	hiding := object.union(examples.before_pod, {"site": {"hidingVariables": ["AMD_VISIBLE_DEVICES"]}})
	amd := object.union(void("/spec/containers/0"), {"value": {"name": "AMD_VISIBLE_DEVICES", "value": "void"}})
	mutation.intents == {void("/spec/containers/0"), amd} with input as hiding
	own := {"path": "/spec/containers/0/env/0", "value": "0"}
	mutation.intents == {void("/spec/containers/0")} with input as json.patch(
		hiding,
		[{"op": "add", "path": "/podSets/0/containers/0/environment/AMD_VISIBLE_DEVICES", "value": own}],
	)
}

test_init_containers_sidecars_and_debug_containers_see_none_and_what_is_set_stays if {
	mutation.intents == {
		void("/spec/initContainers/0"),
		void("/spec/initContainers/1"),
		void("/spec/containers/1"),
		void("/spec/ephemeralContainers/0"),
	} with input as examples.before_pod_of_several_containers
	mutation.skips == skipped(
		"/spec/containers/0",
		"the container sets NVIDIA_VISIBLE_DEVICES itself, and a check judges the value",
	) with input as examples.before_pod_of_several_containers
}

test_beside_a_container_with_a_gpu_the_others_see_none if {
	mutation.intents == {
		void("/spec/initContainers/0"),
		void("/spec/initContainers/1"),
		void("/spec/containers/1"),
	} with input as examples.before_gpu_pod
	mutation.skips == skipped(
		"/spec/containers/0",
		"the container asks for accelerators, and the device plugin chooses its devices",
	) with input as examples.before_gpu_pod
}

test_beside_a_container_with_a_device_claim_the_others_see_none if {
	mutation.intents == {void("/spec/containers/1")} with input as examples.before_pod_with_device_claim
	mutation.skips == skipped(
		"/spec/containers/0",
		"the container uses a device claim, and the driver of the claim chooses its devices",
	) with input as examples.before_pod_with_device_claim
}

test_a_pod_in_which_every_container_asks_is_left_to_the_device_plugin if {
	mutation.intents == set() with input as examples.untouched_gpu_pod
}

test_a_namespace_that_may_choose_devices_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_exporter
	mutation.skips == skipped("", "pods of this namespace may see all devices of their nodes") with input as examples.untouched_exporter
}

test_device_plugins_see_what_they_hand_out if {
	mutation.intents == set() with input as examples.untouched_device_plugin
}

test_a_template_is_left_as_its_author_wrote_it if {
	mutation.intents == set() with input as examples.untouched_deployment
	mutation.skips == skipped(
		"",
		"the webhook does not change templates; it changes their pods",
	) with input as examples.untouched_deployment
}

test_a_pod_of_another_group_is_none_of_ours if {
	foreign := json.patch(examples.before_pod, [{"op": "replace", "path": "/workload/group", "value": "example.com"}])
	mutation.intents == set() with input as foreign
}

test_a_daemon_set_that_a_tenant_may_make_sees_no_gpus if {
	mutation.intents == {void("/spec/containers/0")} with input as examples.before_tenants_daemonset
}

test_a_pod_without_a_daemon_set_is_no_agent if {
	mutation.intents == {void("/spec/containers/0")} with input as examples.before_unowned_exporter
}

test_permissions_on_the_node_make_no_agent if {
	mutation.intents == {void("/spec/containers/0")} with input as examples.before_tenants_exporter
}

of_kind(example, kind) := json.patch(example, [{"op": "replace", "path": "/workload/kind", "value": kind}])

test_a_kind_that_is_no_pod_is_skipped_once_whatever_its_containers_ask_for if {
	wanted := skipped("", "the webhook does not change templates; it changes their pods")
	every example in [examples.before_pod, examples.before_gpu_pod] {
		mutation.intents == set() with input as of_kind(example, "ReplicationController")
		mutation.skips == wanted with input as of_kind(example, "ReplicationController")
		mutation.skips == wanted with input as object.union(
			of_kind(example, "ReplicationController"),
			{"site": {"visibleDevicesAllowed": true}},
		)
	}
}

test_a_pod_that_may_see_all_devices_is_skipped_once if {
	allowed := object.union(examples.before_gpu_pod, {"site": {"visibleDevicesAllowed": true}})
	mutation.intents == set() with input as allowed
	mutation.skips == skipped("", "pods of this namespace may see all devices of their nodes") with input as allowed
}
