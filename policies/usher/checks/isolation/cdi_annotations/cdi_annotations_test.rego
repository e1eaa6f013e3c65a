package usher.checks.isolation.cdi_annotations_test

import data.examples.checks.isolation.cdi_annotations as examples
import data.usher.checks.isolation.cdi_annotations as check

finding(path, name, key, devices) := {
	"path": path,
	"message": $"{name} takes the devices {devices} by the annotation {key}, which bypasses requests and quotas",
	"remedy": "remove the annotation, and ask for the GPUs in limits",
}

test_devices_without_a_request_are_found if {
	check.deny == {finding(
		"/metadata/annotations/cdi.k8s.io~1gpu",
		"the pod",
		"cdi.k8s.io/gpu",
		`"nvidia.com/gpu=all"`,
	)} with input as examples.bad_pod
}

test_a_request_covers_neither_another_kind_nor_all_devices if {
	check.deny == {
		finding(
			"/spec/template/metadata/annotations/cdi.k8s.io~1more",
			"the pod",
			"cdi.k8s.io/more",
			`"nvidia.com/pgpu=0,nvidia.com/gpu=1"`,
		),
		finding(
			"/spec/template/metadata/annotations/cdi.k8s.io~1rest",
			"the pod",
			"cdi.k8s.io/rest",
			`"nvidia.com/pgpu=all"`,
		),
	} with input as examples.bad_deployment
}

test_passthrough_needs_a_request_of_the_same_pods_and_a_name_of_a_device if {
	check.deny == {
		finding(
			"/spec/tfReplicaSpecs/PS/template/metadata/annotations/cdi.k8s.io~1gpu",
			"PS",
			"cdi.k8s.io/gpu",
			`"nvidia.com/pgpu=0"`,
		),
		finding(
			"/spec/tfReplicaSpecs/Worker/template/metadata/annotations/cdi.k8s.io~1odd",
			"Worker",
			"cdi.k8s.io/odd",
			`"everything"`,
		),
	} with input as examples.bad_tfjob
}

test_passthrough_beside_a_request_is_good if {
	check.deny == set() with input as examples.good_kata_pod
	check.deny == set() with input as examples.good_kata_pod_with_claim
}

test_other_annotations_and_those_of_an_owner_are_good if {
	check.deny == set() with input as examples.good_job
}

test_monitoring_and_system_namespaces_may_take_them if {
	check.deny == set() with input as examples.good_validation
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"visibleDevicesAllowed": true}})
}

test_usher_yaml_names_the_kinds_of_passthrough if {
	other := {"site": {"parameters": {"isolation/cdi_annotations": {"passthroughKinds": []}}}}
	check.deny == {finding(
		"/metadata/annotations/cdi.k8s.io~1gpu",
		"the pod",
		"cdi.k8s.io/gpu",
		`"nvidia.com/pgpu=0, nvidia.com/pgpu=1"`,
	)} with input as object.union(examples.good_kata_pod, other)
}
