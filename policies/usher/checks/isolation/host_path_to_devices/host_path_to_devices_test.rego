package usher.checks.isolation.host_path_to_devices_test

import data.examples.checks.isolation.host_path_to_devices as examples
import data.usher.checks.isolation.host_path_to_devices as check

finding(path, volume, written) := found(path, volume, written, "which shows devices of the node that no request and no quota counts")

found(path, volume, written, effect) := {
	"path": path,
	"message": $"volume {volume} mounts the host path {written}, {effect}",
	"remedy": "remove the volume, and ask for the devices in limits",
}

test_device_files_are_found_however_they_are_spelt if {
	check.deny == {
		finding("/spec/volumes/0/hostPath/path", "gpu", `"/dev//nvidia0"`),
		finding("/spec/volumes/1/hostPath/path", "control", `"/dev/nvidiactl"`),
	} with input as examples.bad_pod
}

test_network_cards_are_devices_too if {
	check.deny == {finding(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/volumes/1/hostPath/path",
		"ib of worker",
		`"/dev/infiniband/"`,
	)} with input as examples.bad_leaderworkerset
}

test_the_bus_of_the_cards_and_the_pipes_of_mps_are_devices_too if {
	check.deny == {
		found(
			"/spec/template/spec/volumes/0/hostPath/path",
			"bus",
			`"/sys/bus/pci/devices"`,
			"through which a pod can remove or reset the devices of others",
		),
		finding("/spec/template/spec/volumes/1/hostPath/path", "cards", `"/sys/devices/pci0000:00"`),
		found(
			"/spec/template/spec/volumes/2/hostPath/path",
			"mps",
			`"/tmp/./nvidia-mps/"`,
			"whose pipes lead to the GPUs of other pods",
		),
	} with input as examples.bad_deployment_without_device_files
}

test_links_of_the_node_hide_nothing if {
	check.deny == {
		finding("/spec/template/spec/volumes/0/hostPath/path", "driver", `"/var/run/nvidia/driver"`),
		finding("/spec/template/spec/volumes/1/hostPath/path", "cards", `"/proc/1/root/dev/dri/card0"`),
	} with input as examples.bad_job_past_links
}

test_libraries_shared_memory_and_names_that_only_begin_alike_are_good if {
	check.deny == set() with input as examples.good_fabric_recipe
}

test_system_namespaces_may_have_them if {
	check.deny == set() with input as examples.good_device_plugin
	found := finding("/spec/template/spec/volumes/0/hostPath/path", "driver", `"/run/nvidia"`)
	moved := {"remedy": "move this agent of nodes to a system namespace, or remove the volume"}
	check.deny == {object.union(found, moved)} with input as object.union(examples.good_device_plugin, {"site": {"systemNamespace": false}})
}

test_usher_yaml_decides_which_places_count if {
	other := {"parameters": {"isolation/host_path_to_devices": {"paths": ["/dev/drivers"]}}}
	check.deny == {finding("/spec/volumes/4/hostPath/path", "drivers", `"/dev/drivers"`)} with input as object.union(
		examples.good_fabric_recipe,
		{"site": other},
	)
	check.deny == set() with input as object.union(examples.bad_pod, {"site": other})
}

test_the_files_of_the_gpu_operator_are_no_devices_but_its_own if {
	volume := {"path": "/spec/volumes/0", "name": "state", "hostPath": {"path": "/run/nvidia/validations", "place": "/run/nvidia/validations"}}
	state := json.patch(examples.bad_pod, [{"op": "replace", "path": "/podSets/0/volumes", "value": [volume]}])
	check.deny == {{
		"path": "/spec/volumes/0/hostPath/path",
		"message": `volume state mounts the host path "/run/nvidia/validations", whose files tell the GPU operator that the driver of the node is ready`,
		"remedy": "remove the volume; only node agents that wait for the GPU operator need it",
	}} with input as state
}

test_a_volume_of_a_whole_disk_is_found_and_only_an_administrator_may_have_set_it_aside if {
	wanted := {
		"path": "/spec/local/path",
		"message": `this PersistentVolume mounts the host path "/dev/nvme0n1", which shows devices of the node that no request and no quota counts`,
		"remedy": "remove the volume, and ask for the devices in limits",
	}
	disk := {"path": "/dev/nvme0n1", "place": "/dev/nvme0n1"}
	assumption := {"assumption": "usher assumes that no administrator keeps this disk for volumes"}
	check.deny == {object.union(wanted, assumption)} with input as examples.bad_block_volume
	check.deny == {wanted} with input as object.union(examples.bad_block_volume, {"review": {"by": []}})
	check.deny == {wanted} with input as json.patch(
		examples.bad_block_volume,
		[{"op": "remove", "path": "/object/persistentVolume/spec/volumeMode"}],
	)
	check.deny == {object.union(wanted, {"path": "/spec/hostPath/path"})} with input as json.patch(
		examples.bad_block_volume,
		[
			{"op": "remove", "path": "/object/persistentVolume/spec/local"},
			{"op": "add", "path": "/object/persistentVolume/spec/hostPath", "value": disk},
		],
	)
}
