package usher.checks.isolation.monitoring_resources_test

import data.examples.checks.isolation.monitoring_resources as examples
import data.usher.checks.isolation.monitoring_resources as check

finding(path, resource) := {
	"path": path,
	"message": $"the pod asks for {resource}, which gives access to every device of its node, but no quota counts them",
	"remedy": "ask for as many devices as it needs",
}

test_access_to_all_devices_is_found if {
	check.deny == {finding(
		"/spec/containers/0/resources/limits/gpu.intel.com~1monitoring",
		"gpu.intel.com/monitoring",
	)} with input as examples.bad_pod
}

test_it_is_found_beside_a_request_for_devices if {
	check.deny == {finding(
		"/spec/template/spec/containers/1/resources/limits/gpu.intel.com~1i915_monitoring",
		"gpu.intel.com/i915_monitoring",
	)} with input as examples.bad_deployment
}

test_resources_that_usher_yaml_describes_so_are_found if {
	check.deny == {finding(
		"/spec/template/spec/initContainers/0/resources/limits/example.com~1all-gpus",
		"example.com/all-gpus",
	)} with input as examples.bad_job_with_own_resource
}

test_single_devices_are_good if {
	check.deny == set() with input as examples.good_pod
}

test_monitoring_and_system_namespaces_may_ask_for_it if {
	check.deny == set() with input as examples.good_exporter
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"systemNamespace": true}})
}

test_another_check_reports_claims_with_admin_access if {
	[pod_set] := examples.bad_pod.podSets
	claimed := object.union(pod_set, {"requests": [{
		"route": "access to all devices",
		"name": "gpu.nvidia.com",
		"path": "/spec/resourceClaims/0",
		"minimum": {"value": 0, "milli": 0, "text": "0", "whole": true},
	}]})
	check.deny == set() with input as object.union(examples.bad_pod, {"podSets": [claimed]})
}
