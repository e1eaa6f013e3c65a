package usher.mutations.isolation.visible_devices_void_test

import data.examples.mutations.isolation.visible_devices_void as examples
import data.usher.mutations.isolation.visible_devices_void as mutation

void(container) := {
	"at": container,
	"field": "environment",
	"value": {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
	"reason": "the pod asks for no GPU, but its images may switch all of them on",
}

test_a_pod_that_asks_for_no_gpu_sees_none if {
	mutation.intents == {void("/spec/containers/0")} with input as examples.before_pod
}

test_init_containers_and_sidecars_see_none_and_what_is_set_stays if {
	mutation.intents == {
		void("/spec/initContainers/0"),
		void("/spec/initContainers/1"),
		void("/spec/containers/1"),
	} with input as examples.before_pod_of_several_containers
}

test_a_pod_that_asks_for_a_gpu_is_left_to_the_device_plugin if {
	mutation.intents == set() with input as examples.untouched_gpu_pod
}

test_a_pod_with_a_device_claim_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pod_with_device_claim
}

test_a_namespace_that_may_choose_devices_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_exporter
}

test_a_template_is_left_as_its_author_wrote_it if {
	mutation.intents == set() with input as examples.untouched_deployment
}

test_a_pod_of_another_group_is_none_of_ours if {
	foreign := json.patch(examples.before_pod, [{"op": "replace", "path": "/workload/group", "value": "example.com"}])
	mutation.intents == set() with input as foreign
}
