package usher.checks.isolation.host_namespaces_test

import data.examples.checks.isolation.host_namespaces as examples
import data.usher.checks.isolation.host_namespaces as check

processes(path, name) := {
	"path": path,
	"message": $"{name} sets hostPID, so it can reach all processes of its node",
	"remedy": "remove hostPID",
}

memory(path, name) := {
	"path": path,
	"message": $"{name} sets hostIPC, so it can reach all memory segments of its node",
	"remedy": "remove hostIPC, and mount an emptyDir of medium Memory at /dev/shm",
}

test_the_processes_of_the_node_are_found if {
	check.deny == {processes("/spec/template/spec/hostPID", "the pod")} with input as examples.bad_deployment
}

test_only_the_template_that_shares_is_found if {
	check.deny == {memory("/spec/pytorchReplicaSpecs/Worker/template/spec/hostIPC", "Worker")} with input as examples.bad_pytorchjob
}

test_both_are_found_and_the_network_is_not if {
	check.deny == {processes("/spec/hostPID", "the pod"), memory("/spec/hostIPC", "the pod")} with input as examples.bad_pod
}

test_the_network_of_the_node_and_sharing_within_the_pod_are_good if {
	check.deny == set() with input as examples.good_mpijob
}

test_system_namespaces_may_share_them if {
	check.deny == set() with input as examples.good_driver
	check.deny == {processes("/spec/template/spec/hostPID", "the pod")} with input as object.union(
		examples.good_driver,
		{"site": {"systemNamespace": false}},
	)
}

test_the_shared_memory_of_the_node_is_found_as_a_volume_too if {
	found := {{
		"path": "/spec/template/spec/volumes/0/hostPath/path",
		"message": `volume memory mounts the host path "/dev/shm/", so the pod can reach all memory segments of its node`,
		"remedy": "use an emptyDir of medium Memory in place of the hostPath",
	}}
	check.deny == found with input as examples.bad_job
	check.deny == set() with input as object.union(examples.bad_job, {"site": {"systemNamespace": true}})
}

of_volume(spec) := object.union(examples.bad_job, {"podSets": [], "object": {"persistentVolume": {"spec": spec}}})

test_a_share_of_a_server_is_no_memory_of_the_node if {
	memory := {"path": "/dev/shm", "place": "/dev/shm"}
	count(check.deny) == 1 with input as of_volume({"hostPath": memory})
	check.deny == set() with input as of_volume({"csi": {"driver": "x", "volumeAttributes": {"share": memory}}})
}
