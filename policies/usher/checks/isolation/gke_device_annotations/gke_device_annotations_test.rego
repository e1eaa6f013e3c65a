package usher.checks.isolation.gke_device_annotations_test

import data.examples.checks.isolation.gke_device_annotations as examples
import data.usher.checks.isolation.gke_device_annotations as check

finding(path, name, named, asked) := {
	"path": path,
	"message": $"{name} names {named} GPUs in annotations of devices.gke.io, but asks for {asked}",
	"remedy": "ask for as many GPUs in limits of the same pod, or remove the annotation",
}

test_as_many_gpus_as_the_pod_asks_for_are_good if {
	check.deny == set() with input as examples.good_tcpx
	check.unknown == set() with input as examples.good_tcpx
}

test_devices_that_are_no_gpus_and_other_annotations_are_good if {
	check.deny == set() with input as examples.good_other_devices
	check.unknown == set() with input as examples.good_other_devices
}

test_gpus_of_a_pod_without_a_request_are_found if {
	check.deny == {finding(
		"/metadata/annotations/devices.gke.io~1pod",
		"the pod",
		1,
		0,
	)} with input as examples.bad_pod
}

test_all_annotations_of_one_template_count_together_and_each_gpu_once if {
	check.deny == {
		finding(
			"/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations/devices.gke.io~1container.pytorch",
			"Worker",
			3,
			2,
		),
		finding(
			"/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations/devices.gke.io",
			"Worker",
			3,
			2,
		),
	} with input as examples.bad_pytorchjob
}

test_a_slice_is_no_gpu if {
	check.deny == {finding(
		"/spec/template/metadata/annotations/devices.gke.io~1container.evaluate",
		"the pod",
		1,
		0,
	)} with input as examples.bad_job_with_a_slice
}

with_claim_of(number) := object.union(examples.unknown_claim, {"podSets": [claimed]}) if {
	[pod_set] := examples.unknown_claim.podSets
	others := [request | some request in pod_set.requests; request.route != "extended resource"]
	claimed := object.union(pod_set, {"requests": array.concat(others, [{
		"route": "device claim",
		"name": "gpu.nvidia.com",
		"path": "/spec/resourceClaims/0",
		"minimum": {"value": number, "milli": number * 1000, "text": format_int(number, 10), "whole": true},
	}])})
}

test_a_device_claim_is_a_request_too if {
	check.deny == set() with input as with_claim_of(2)
	check.unknown == set() with input as with_claim_of(2)
	check.deny == {finding(
		"/metadata/annotations/devices.gke.io~1container.tcpx-daemon",
		"the pod",
		2,
		1,
	)} with input as with_claim_of(1)
	check.unknown == set() with input as with_claim_of(1)
}

test_a_claim_that_is_not_known_leaves_the_answer_open if {
	check.deny == set() with input as examples.unknown_claim
	check.unknown == {{
		"path": "/metadata/annotations/devices.gke.io~1container.tcpx-daemon",
		"reason": "usher does not know the device claims of the pod, so the pod may ask for as many GPUs as its annotations of devices.gke.io name",
	}} with input as examples.unknown_claim
}

test_a_claim_that_is_not_known_does_not_matter_where_enough_is_asked_for if {
	one_claim := json.patch(examples.good_tcpx, [{"op": "replace", "path": "/podSets/0/deviceClaims", "value": 1}])
	check.deny == set() with input as one_claim
	check.unknown == set() with input as one_claim
}

test_paths_with_escapes_are_unknown if {
	check.deny == set() with input as examples.unknown_escapes
	check.unknown == {{
		"path": "/metadata/annotations/devices.gke.io~1container.jupyter",
		"reason": "usher cannot read the devices in the annotation devices.gke.io/container.jupyter of the pod, because it contains a backslash",
	}} with input as examples.unknown_escapes
}

test_monitoring_and_system_namespaces_may_take_them if {
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"visibleDevicesAllowed": true}})
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"systemNamespace": true}})
	check.unknown == set() with input as object.union(examples.unknown_escapes, {"site": {"systemNamespace": true}})
}
