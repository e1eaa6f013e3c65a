package usher.checks.isolation.device_list_by_mount_test

import data.examples.checks.isolation.device_list_by_mount as examples
import data.usher.checks.isolation.device_list_by_mount as check

finding(path, name, device) := {
	"path": path,
	"message": $"{name} takes the device {device} by the name of a mount, which bypasses requests and quotas",
	"remedy": "remove the mount, and ask for GPUs in limits only",
}

test_mounts_of_every_container_are_read_however_they_are_spelt if {
	check.deny == {
		finding("/spec/containers/0/volumeMounts/1/mountPath", "container jupyter", `"all"`),
		finding("/spec/ephemeralContainers/0/volumeMounts/0/mountPath", "ephemeral container debugger", `"GPU-7f6d7a5e"`),
	} with input as examples.bad_pod
}

test_a_path_without_its_slash_and_a_volume_claim_hide_nothing if {
	check.deny == {finding(
		"/spec/tfReplicaSpecs/Worker/template/spec/initContainers/0/volumeMounts/0/mountPath",
		"init container warm-up of Worker",
		`"0"`,
	)} with input as examples.bad_tfjob
}

test_devices_of_cdi_are_named_by_several_directories if {
	check.deny == {finding(
		"/spec/template/spec/containers/0/volumeMounts/0/mountPath",
		"container embeddings",
		`"cdi/nvidia.com/gpu/all"`,
	)} with input as examples.bad_deployment_with_cdi
}

test_the_directory_itself_and_paths_that_only_look_like_it_are_good if {
	check.deny == set() with input as examples.good_pod
}

test_monitoring_and_system_namespaces_may_do_so if {
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"visibleDevicesAllowed": true}})
	check.deny == set() with input as examples.good_validation
	check.deny == {finding("/spec/template/spec/containers/0/volumeMounts/0/mountPath", "container validate", `"all"`)} with input as object.union(
		examples.good_validation,
		{"site": {"systemNamespace": false}},
	)
}
