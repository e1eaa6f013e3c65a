package usher.checks.isolation.nri_device_annotations_test

import data.examples.checks.isolation.nri_device_annotations as examples
import data.usher.checks.isolation.nri_device_annotations as check

finding(path, name, key, devices) := {
	"path": path,
	"message": $"{name} takes the devices {devices} by the annotation {key}, which bypasses requests and quotas",
	"remedy": "remove the annotation, and ask for the GPUs in limits",
}

test_devices_for_all_containers_are_found if {
	check.deny == {finding(
		"/metadata/annotations/nvidia.cdi.k8s.io",
		"the pod",
		"nvidia.cdi.k8s.io",
		`"nvidia.com/gpu=all"`,
	)} with input as examples.bad_pod
	check.deny == {finding(
		"/spec/tasks/0/template/metadata/annotations/nvidia.cdi.k8s.io~1pod",
		"worker",
		"nvidia.cdi.k8s.io/pod",
		`"management.nvidia.com/gpu=all"`,
	)} with input as examples.bad_volcano_job
}

test_devices_for_one_container_are_found_even_beside_a_request if {
	check.deny == {finding(
		"/spec/template/metadata/annotations/nvidia.cdi.k8s.io~1container.sidecar",
		"the pod",
		"nvidia.cdi.k8s.io/container.sidecar",
		`"nvidia.com/gpu=0"`,
	)} with input as examples.bad_statefulset
}

test_another_domain_is_good if {
	check.deny == set() with input as examples.good_job
}

test_monitoring_and_system_namespaces_may_take_them if {
	check.deny == set() with input as examples.good_validation
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"visibleDevicesAllowed": true}})
}
