package usher.checks.fabric.topology_file_not_mounted_test

import data.examples.checks.fabric.topology_file_not_mounted as examples
import data.usher.checks.fabric.topology_file_not_mounted as check

found(path, container, file) := {{
	"path": path,
	"message": $"{container}: NCCL_TOPO_FILE names {file}, but no volume is mounted there",
	"remedy": "mount the file there, or remove NCCL_TOPO_FILE",
	"assumption": "usher assumes that the image does not contain the file",
}}

test_without_any_mount_the_file_is_missing if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container pytorch of Worker",
		`"/etc/nccl-topo.xml"`,
	) with input as examples.bad_pytorchjob
}

test_a_mount_at_another_path_does_not_count if {
	check.deny == found(
		"/spec/template/spec/containers/0/env/0",
		"container train",
		`"/opt/microsoft/ndv5-topo.xml"`,
	) with input as examples.bad_job
}

test_a_mount_in_another_container_does_not_count if {
	check.deny == found(
		"/spec/replicatedJobs/0/template/spec/template/spec/containers/0/env/0",
		"container train of workers",
		`"/etc/nccl/topo.xml"`,
	) with input as examples.bad_jobset
}

test_the_file_or_a_directory_above_it_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_no_file_and_one_from_elsewhere_are_good if {
	check.deny == set() with input as examples.good_job
}

test_the_mounts_of_a_trainjob_are_its_runtimes if {
	check.deny == set() with input as examples.good_trainjob
}

test_ranks_that_do_not_see_it_look_for_no_file if {
	unseen := json.patch(examples.bad_job, [
		{"op": "replace", "path": "/podSets/0/ranksInheritEnvironment", "value": false},
	])
	check.deny == set() with input as unseen
}
