package usher.checks.isolation.broad_host_path_test

import data.examples.checks.isolation.broad_host_path as examples
import data.usher.checks.isolation.broad_host_path as check

finding(path, volume, written) := {
	"path": path,
	"message": $"volume {volume} mounts all of {written} from the node, including files and sockets that control the node and its devices",
	"remedy": "mount only the directory below it that the pod needs",
}

assumption := {"assumption": "usher assumes that the user that the container runs as can use the devices and sockets in this directory"}

test_the_root_of_the_node_is_found_in_a_debug_container if {
	check.deny == {finding("/spec/volumes/0/hostPath/path", "host", `"/"`)} with input as examples.bad_debug_pod
}

test_one_mount_that_can_be_written_is_enough if {
	check.deny == {
		finding(
			"/spec/mpiReplicaSpecs/Worker/template/spec/volumes/0/hostPath/path",
			"devices of Worker",
			`"/dev"`,
		),
		finding(
			"/spec/mpiReplicaSpecs/Worker/template/spec/volumes/1/hostPath/path",
			"runtime of Worker",
			`"/var/run"`,
		),
	} with input as examples.bad_mpijob
}

test_mounted_read_only_it_is_a_matter_of_the_user if {
	check.deny == {object.union(
		finding("/spec/template/spec/volumes/0/hostPath/path", "root", `"/"`),
		assumption,
	)} with input as examples.bad_node_exporter
}

test_narrow_paths_and_unmounted_volumes_are_good if {
	check.deny == set() with input as examples.good_raycluster
}

test_system_namespaces_may_have_them if {
	check.deny == set() with input as examples.good_node_agent
	check.deny == {finding("/spec/volumes/0/hostPath/path", "root", `"/"`)} with input as object.union(
		examples.good_node_agent,
		{"site": {"systemNamespace": false}},
	)
}

test_whoever_writes_to_sys_controls_the_cards if {
	found := object.union(
		finding("/spec/volumes/0/hostPath/path", "sys", `"/sys"`),
		{"remedy": "mount it read-only"},
	)
	helper := {"assumption": "usher assumes that the pod does more than read in /sys which cards the node has"}
	check.deny == {object.union(found, helper)} with input as examples.bad_fabric_helper
	ordinary := json.patch(
		examples.bad_fabric_helper,
		[{"op": "replace", "path": "/podSets/0/asksAccelerators", "value": false}],
	)
	check.deny == {found} with input as ordinary
	check.deny == set() with input as json.patch(
		ordinary,
		[{"op": "add", "path": "/podSets/0/containers/0/volumeMounts/0/readOnly", "value": true}],
	)
	check.deny == {found} with input as object.union(ordinary, {"workload": {"kind": "DaemonSet"}})
}

test_what_only_the_daemon_of_gpudirect_mounts_is_a_note if {
	{[entry.path, entry.noted] | some entry in check.deny} == {
		["/spec/volumes/0/hostPath/path", true],
		["/spec/volumes/1/hostPath/path", true],
	} with input as examples.bad_gpudirect
	every change in [
		{"op": "replace", "path": "/podSets/0/containers/0/name", "value": "daemon"},
		{"op": "replace", "path": "/podSets/0/annotations", "value": {}},
		{"op": "add", "path": "/podSets/0/containers/0/securityContext", "value": {"privileged": true}},
		{"op": "add", "path": "/podSets/0/containers/1/volumeMounts", "value": [{"name": "sys"}, {"name": "proc-sys"}]},
	] {
		changed := json.patch(examples.bad_gpudirect, [change])
		count([entry | some entry in check.deny; not entry.noted]) == 2 with input as changed
	}
	ordinary := json.patch(examples.bad_gpudirect, [{"op": "replace", "path": "/podSets/0/asksAccelerators", "value": false}])
	count([entry | some entry in check.deny; not entry.assumption]) == 2 with input as ordinary
}

at(input_document, place, general) := json.patch(
	input_document,
	[{
		"op": "replace",
		"path": "/podSets/0/volumes/0/hostPath",
		"value": {"path": place, "place": place, "general": general},
	}],
)

test_directories_that_other_pods_use_too_are_a_matter_of_the_node if {
	proc := at(examples.bad_fabric_helper, "/proc/sys", "/proc/sys")
	{"usher assumes that the pod does more than set up its network, as recipes of GPUDirect do"} == {entry.assumption |
		some entry in check.deny
	} with input as proc
	check.deny == {object.union(
		finding("/spec/volumes/0/hostPath/path", "sys", `"/proc/sys"`),
		{"remedy": "mount it read-only"},
	)} with input as json.patch(proc, [{"op": "replace", "path": "/podSets/0/asksAccelerators", "value": false}])
	{"usher assumes that an MPS daemon of the node keeps its pipes in /tmp"} == {entry.assumption |
		some entry in check.deny
	} with input as at(examples.bad_fabric_helper, "/tmp", "/tmp")
	{"usher assumes that a user of the node has keys or settings in this directory"} == {entry.assumption |
		some entry in check.deny
	} with input as at(examples.bad_fabric_helper, "/home/anna", "/home/USER")
}

test_usher_yaml_decides_which_directories_are_too_wide if {
	other := {"parameters": {"isolation/broad_host_path": {"directories": ["/proc/sys"]}}}
	check.deny == {object.union(
		finding(
			"/spec/headGroupSpec/template/spec/volumes/2/hostPath/path",
			"proc of head",
			`"/proc/sys"`,
		),
		{"remedy": "mount it read-only"},
	)} with input as json.patch(
		object.union(examples.good_raycluster, {"site": other}),
		[{"op": "remove", "path": "/podSets/0/containers/0/volumeMounts/2/readOnly"}],
	)
	check.deny == set() with input as object.union(examples.bad_node_exporter, {"site": other})
}

test_a_daemon_set_of_a_tenant_is_judged_like_other_workloads if {
	count(check.deny) > 0 with input as object.union(examples.bad_debug_pod, {"workload": {"kind": "DaemonSet"}})
}

test_a_volume_of_the_whole_node_is_found_whatever_its_access_modes_are if {
	wanted := {
		"path": "/spec/hostPath/path",
		"message": `this PersistentVolume mounts all of "/" from the node, including files and sockets that control the node and its devices`,
		"remedy": "mount only the directory below it that the pod needs",
	}
	check.deny == {wanted} with input as examples.bad_volume
	system := {"hostPath": {"path": "/sys", "place": "/sys"}}
	found := check.deny with input as json.patch(
		examples.bad_volume,
		[{"op": "replace", "path": "/object/persistentVolume/spec", "value": system}],
	)
	{finding.remedy | some finding in found} == {wanted.remedy}
}

test_the_root_of_a_server_is_no_directory_of_the_node if {
	spec := {"csi": {"driver": "nfs.csi.k8s.io", "volumeAttributes": {"share": {"path": "/", "place": "/"}}}}
	check.deny == set() with input as json.patch(
		examples.bad_volume,
		[{"op": "replace", "path": "/object/persistentVolume/spec", "value": spec}],
	)
}

test_a_volume_in_the_recipe_of_a_declared_fabric_is_good if {
	recipe := {"volumes": [{"name": "sys", "hostPath": {"path": "/sys"}}]}
	fitting := json.patch(
		examples.bad_fabric_helper,
		[{"op": "add", "path": "/podSets/0/fits", "value": [{"pool": "h100", "fabric": "own"}]}],
	)
	check.deny == set() with input as object.union(fitting, {"fabrics": {"own": {"recipe": recipe}}})
	count(check.deny) == 1 with input as object.union(fitting, {"fabrics": {"own": {"recipe": {"volumes": []}}}})
}
