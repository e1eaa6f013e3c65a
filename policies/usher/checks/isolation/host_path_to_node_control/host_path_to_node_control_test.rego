package usher.checks.isolation.host_path_to_node_control_test

import data.examples.checks.isolation.host_path_to_node_control as examples
import data.usher.checks.isolation.host_path_to_node_control as check

finding(path, volume, written) := {
	"path": path,
	"message": $"volume {volume} mounts the host path {written}, through which the pod can control its node",
	"remedy": "remove the volume",
}

of_agent(path, volume, written) := object.union(
	finding(path, volume, written),
	{"remedy": "move this agent of nodes to a system namespace, or remove the volume"},
)

test_a_socket_is_found_even_where_it_is_mounted_read_only if {
	check.deny == {finding(
		"/spec/template/spec/volumes/0/hostPath/path",
		"docker",
		`"/var/run/docker.sock"`,
	)} with input as examples.bad_runner
}

test_the_directories_of_device_plugins_and_of_cdi_are_found if {
	check.deny == {
		of_agent(
			"/spec/template/spec/volumes/0/hostPath/path",
			"plugins",
			`"/var/lib/kubelet/pods/../device-plugins"`,
		),
		of_agent("/spec/template/spec/volumes/1/hostPath/path", "cdi", `"/var/run/cdi/"`),
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

test_files_by_which_no_program_of_the_node_runs_are_good if {
	check.deny == set() with input as examples.good_clock
	check.deny != set() with input as json.patch(
		examples.good_clock,
		[{"op": "replace", "path": "/podSets/0/volumes/0/hostPath/place", "value": "/etc/localtime.d"}],
	)
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
	check.deny == {of_agent(
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

test_a_claim_leads_to_the_path_of_its_volume if {
	written := finding("/spec/volumes/1/persistentVolumeClaim/claimName", "more", `"/etc/systemd/system"`)
	check.deny == {
		finding("/spec/volumes/0/persistentVolumeClaim/claimName", "data", `"/root/.ssh"`),
		object.union(written, {"remedy": "remove the volume, or mount it read-only"}),
	} with input as examples.bad_claim
}

of_volume(path, written) := {
	"path": path,
	"message": $"this PersistentVolume mounts the host path {written}, through which the pod can control its node",
	"remedy": "remove the volume",
}

test_the_path_of_a_persistent_volume_counts_as_written if {
	wanted := of_volume("/spec/hostPath/path", `"/etc/kubernetes/manifests"`)
	check.deny == {wanted} with input as examples.bad_volume
	program := {"hostPath": {"path": "/opt/cni/bin", "place": "/opt/cni/bin"}}
	check.deny == {of_volume("/spec/hostPath/path", `"/opt/cni/bin"`)} with input as json.patch(
		examples.bad_volume,
		[{"op": "replace", "path": "/object/persistentVolume/spec", "value": program}],
	)
}

test_options_of_a_driver_may_be_paths_of_a_node if {
	finding := of_volume("/spec/flexVolume/options/path", `"/etc/cron.d"`)
	check.deny == {object.union(
		finding,
		{"assumption": "usher assumes that the driver example.com/directory means a path of the node"},
	)} with input as examples.bad_volume_of_a_driver
}

test_administrators_and_controllers_may_make_volumes_of_any_path if {
	every asking in ["administrators", "controllers"] {
		check.deny == set() with input as object.union(examples.bad_volume, {"review": {"by": [asking]}})
	}
	count(check.deny) == 1 with input as object.union(examples.bad_volume, {"review": {"by": ["schedulers"]}})
}
