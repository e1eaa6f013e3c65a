package usher.checks.isolation.runtime_class_without_request_test

import data.examples.checks.isolation.runtime_class_without_request as examples
import data.usher.checks.isolation.runtime_class_without_request as check

finding(path, name, class) := {
	"path": path,
	"message": $"{name} has the RuntimeClass {class} but asks for no accelerator, so its image decides which GPUs it sees",
	"remedy": "remove runtimeClassName, or ask for the GPUs in limits",
}

not_known(name) := {
	"path": "/spec/runtimeClassName",
	"reason": $"usher does not know one of the device claims or resources of {name}, so the pod may ask for the GPUs of its RuntimeClass nvidia",
}

test_a_pod_that_asks_for_nothing_or_for_zero_is_found if {
	check.deny == {finding("/spec/runtimeClassName", "the pod", "nvidia-legacy")} with input as examples.bad_pod
	check.deny == {finding("/spec/template/spec/runtimeClassName", "the pod", "nvidia")} with input as examples.bad_deployment
	check.unknown == set() with input as examples.bad_deployment
}

test_only_the_template_without_a_request_is_found if {
	check.deny == {finding(
		"/spec/mpiReplicaSpecs/Launcher/template/spec/runtimeClassName",
		"Launcher",
		"nvidia-cdi",
	)} with input as examples.bad_mpijob
	check.unknown == set() with input as examples.bad_mpijob
}

test_a_request_of_any_container_is_enough if {
	check.deny == set() with input as examples.good_init_container
	check.unknown == set() with input as examples.good_init_container
}

test_other_runtime_classes_are_good if {
	check.deny == set() with input as examples.good_sandbox
	check.unknown == set() with input as examples.good_sandbox
}

test_monitoring_and_system_namespaces_may_see_all_gpus if {
	check.deny == set() with input as examples.good_exporter
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"systemNamespace": true}})
	check.unknown == set() with input as object.union(examples.unknown_claim, {"site": {"systemNamespace": true}})
	check.unknown == set() with input as object.union(examples.unknown_claim, {"site": {"visibleDevicesAllowed": true}})
}

test_a_claim_that_is_not_known_leaves_the_answer_open if {
	check.deny == set() with input as examples.unknown_claim
	check.unknown == {not_known("the pod")} with input as examples.unknown_claim
}

test_a_resource_that_only_looks_like_an_accelerator_does_so_too if {
	check.deny == set() with input as examples.unknown_resource
	check.unknown == {not_known("the pod")} with input as examples.unknown_resource
}

test_usher_yaml_names_the_classes if {
	other := {"site": {"parameters": {"isolation/runtime_class_without_request": {"runtimeClasses": ["gvisor"]}}}}
	check.deny == {finding("/spec/runtimeClassName", "the pod", "gvisor")} with input as object.union(
		examples.good_sandbox,
		other,
	)
	check.deny == set() with input as object.union(examples.bad_pod, other)
}
