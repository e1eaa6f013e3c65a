package usher.mutations.fabric.topology_file_test

import data.examples.mutations.fabric.topology_file as examples
import data.usher.mutations.fabric.topology_file as mutation

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

training := "/spec/replicatedJobs/0/template/spec/template/spec/containers/0"

ranks := "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0"

elsewhere := "/spec/rayClusterSpec/workerGroupSpecs/0/template/spec/containers/0"

mount := {
	"volume": {"name": "usher-nccl-topology", "configMap": {
		"name": "nccl-topology",
		"items": [{"key": "ndv5.xml", "path": "ndv5.xml"}],
		"defaultMode": 420,
		"optional": false,
	}},
	"mountPath": "/etc/nccl-topo.xml",
	"subPath": "ndv5.xml",
	"readOnly": true,
}

variable := {"variable": {"name": "NCCL_TOPO_FILE", "value": "/etc/nccl-topo.xml"}}

given(at, value) := {{
	"at": at,
	"field": "mount",
	"value": value,
	"reason": "fabric rails needs it, and the pod can run only on nodes with this fabric",
	"needs": [{"group": "", "kind": "ConfigMap", "name": "nccl-topology", "namespace": "ml-research"}],
}}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_a_training_container_gets_the_file_and_the_variable_together if {
	mutation.intents == given(worker, object.union(mount, variable)) with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_mounts_of_other_places_stand_beside_it if {
	mutation.intents == given(training, object.union(mount, variable)) with input as examples.before_jobset_with_mounts
}

test_what_is_ours_already_is_asked_for_again_because_parts_of_it_may_be_lost if {
	mutation.intents == given(worker, object.union(mount, variable)) with input as examples.after_pytorchjob
}

test_ranks_that_see_no_variable_get_the_file_alone_where_a_file_of_settings_can_name_it if {
	mutation.intents == given(ranks, mount) with input as examples.before_mpijob
}

test_ranks_that_see_no_variable_get_nothing_where_nothing_could_name_the_file if {
	unnamed := json.remove(examples.before_mpijob, ["/fabrics/rails/ncclConf"])
	mutation.intents == set() with input as unnamed
	mutation.skips == skipped(ranks, "sshd starts its ranks, so they do not see NCCL_TOPO_FILE, and the fabric has no ncclConf to name the file") with input as unnamed
}

test_a_container_that_names_its_topology_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_that_says_it
	mutation.skips == skipped(worker, "the container already sets NCCL_TOPO_FILE") with input as examples.untouched_pytorchjob_that_says_it
}

test_nothing_is_mounted_into_what_is_mounted_already if {
	mutation.intents == set() with input as examples.untouched_rayjob_with_a_mount
	mutation.skips == skipped(elsewhere, "the container already mounts something at /etc/nccl-topo.xml or above it") with input as examples.untouched_rayjob_with_a_mount
}

test_a_train_job_takes_no_mounts if {
	known := json.patch(examples.untouched_trainjob, [
		{"op": "add", "path": "/podSets/0/fits", "value": [{"pool": "h200", "fabric": "rails"}]},
		{"op": "add", "path": "/fabrics", "value": {"rails": {"topology": {"configMap": "t", "key": "t", "path": "/t"}}}},
	])
	mutation.intents == set() with input as known
	mutation.skips == skipped("/spec/trainer", "the runtime sets the mounts of these pods, so a change to this template would not reach them") with input as known
}

test_a_fabric_without_a_topology_gives_none if {
	plain := json.remove(examples.before_pytorchjob, ["/fabrics/rails/topology"])
	mutation.intents == set() with input as plain
	mutation.skips == skipped(worker, "fabric rails names no topology file") with input as plain
}

test_one_pod_has_no_use_for_it if {
	mutation.intents == set() with input as examples.untouched_job_of_one_pod
	mutation.skips == skipped("", "the workload has only one pod, which does not use the network between nodes") with input as examples.untouched_job_of_one_pod
}

test_what_does_not_train_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_service
	mutation.skips == skipped("", "the role of the workload is service, and only training and models that span pods get a fabric profile") with input as examples.untouched_service
}
