package usher.checks.isolation.host_path_to_kubelet_state_test

import data.examples.checks.isolation.host_path_to_kubelet_state as examples
import data.usher.checks.isolation.host_path_to_kubelet_state as check

finding(path, volume, written) := {
	"path": path,
	"message": $"volume {volume} mounts the host path {written}, where the kubelet keeps data of other pods",
	"remedy": "remove the volume; if the pod is a node agent, move it to a system namespace",
}

test_the_socket_of_pod_resources_is_found if {
	check.deny == {finding(
		"/spec/template/spec/volumes/0/hostPath/path",
		"resources",
		`"/var/lib/kubelet/pod-resources"`,
	)} with input as examples.bad_exporter
}

test_the_volumes_of_pods_are_found_however_they_are_spelt if {
	check.deny == {finding(
		"/spec/jobTemplate/spec/template/spec/volumes/0/hostPath/path",
		"volumes",
		`"/var/lib//kubelet/pods/"`,
	)} with input as examples.bad_cronjob
}

test_the_socket_of_a_driver_is_found if {
	check.deny == {finding(
		"/spec/volumes/0/hostPath/path",
		"driver",
		`"/var/lib/kubelet/plugins/gpu.nvidia.c..."`,
	)} with input as examples.bad_pod
}

test_a_directory_of_the_same_name_that_is_not_the_nodes_is_good if {
	check.deny == set() with input as examples.good_replaced_directory
}

test_system_namespaces_may_have_them if {
	check.deny == set() with input as examples.good_exporter
	check.deny == {finding(
		"/spec/volumes/0/hostPath/path",
		"resources",
		`"/var/lib/kubelet/pod-resources"`,
	)} with input as object.union(examples.good_exporter, {"site": {"systemNamespace": false}})
}

test_usher_yaml_decides_which_directories_count if {
	other := {"parameters": {"isolation/host_path_to_kubelet_state": {"paths": ["/var/lib/kubelet/pods"]}}}
	check.deny == set() with input as object.union(examples.bad_exporter, {"site": other})
	check.deny == {finding(
		"/spec/jobTemplate/spec/template/spec/volumes/0/hostPath/path",
		"volumes",
		`"/var/lib//kubelet/pods/"`,
	)} with input as object.union(examples.bad_cronjob, {"site": other})
}
