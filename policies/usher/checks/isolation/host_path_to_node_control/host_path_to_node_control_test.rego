package usher.checks.isolation.host_path_to_node_control_test

import data.examples.checks.isolation.host_path_to_node_control as examples
import data.usher.checks.isolation.host_path_to_node_control as check

finding(path, volume, written) := {
	"path": path,
	"message": $"volume {volume} mounts the host path {written}, through which the pod can control its node",
	"remedy": "remove the volume",
}

test_a_socket_is_found_even_where_it_is_mounted_read_only if {
	check.deny == {finding(
		"/spec/template/spec/volumes/0/hostPath/path",
		"docker",
		`"/var/run/docker.sock"`,
	)} with input as examples.bad_runner
}

test_the_directories_of_device_plugins_and_of_cdi_are_found if {
	check.deny == {
		finding(
			"/spec/template/spec/volumes/0/hostPath/path",
			"plugins",
			`"/var/lib/kubelet/pods/../device-plugins"`,
		),
		finding("/spec/template/spec/volumes/1/hostPath/path", "cdi", `"/var/run/cdi/"`),
	} with input as examples.bad_fake_plugin
}

test_what_a_pod_can_change_is_found_and_so_are_keys_that_it_reads if {
	written := {"remedy": "remove the volume, or mount it read-only"}
	check.deny == {
		object.union(
			finding("/spec/template/spec/volumes/0/hostPath/path", "plugins", `"/opt/cni/bin"`),
			written,
		),
		object.union(
			finding("/spec/template/spec/volumes/1/hostPath/path", "units", `"/lib/systemd/system"`),
			written,
		),
		finding("/spec/template/spec/volumes/2/hostPath/path", "keys", `"/home/anna/.ssh"`),
	} with input as examples.bad_writer
}

test_files_that_a_pod_only_reads_are_good if {
	check.deny == set() with input as examples.good_reader
	written := json.patch(
		examples.good_reader,
		[{"op": "remove", "path": "/podSets/0/containers/0/volumeMounts/0/readOnly"}],
	)
	count(check.deny) == 1 with input as written
}

test_static_pods_are_found_in_the_templates_of_other_kinds if {
	check.deny == {finding(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/volumes/0/hostPath/path",
		"manifests of Worker",
		`"/etc/kubernetes/manifests/"`,
	)} with input as examples.bad_pytorchjob
}

test_other_directories_of_the_node_are_good if {
	check.deny == set() with input as examples.good_statefulset
}

test_system_namespaces_may_have_them if {
	check.deny == set() with input as examples.good_node_agent
	check.deny == {finding(
		"/spec/template/spec/volumes/0/hostPath/path",
		"plugins",
		`"/var/lib/kubelet/device-plugins"`,
	)} with input as object.union(examples.good_node_agent, {"site": {"systemNamespace": false}})
}

test_usher_yaml_decides_which_places_count if {
	other := {"parameters": {"isolation/host_path_to_node_control": {"paths": ["/run/tcpx"]}}}
	check.deny == {finding("/spec/template/spec/volumes/1/hostPath/path", "tcpx", `"/run/tcpx"`)} with input as object.union(
		examples.good_statefulset,
		{"site": other},
	)
	check.deny == set() with input as object.union(examples.bad_runner, {"site": other})
}
