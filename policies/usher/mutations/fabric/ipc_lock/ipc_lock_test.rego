package usher.mutations.fabric.ipc_lock_test

import data.examples.mutations.fabric.ipc_lock as examples
import data.usher.mutations.fabric.ipc_lock as mutation

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

training := "/spec/replicatedJobs/0/template/spec/template/spec/containers/0"

given(at, fabric) := {{
	"at": at,
	"field": "capability",
	"value": {"name": "IPC_LOCK"},
	"reason": $"RDMA on fabric {fabric} needs locked memory",
	"needs": [{
		"group": "",
		"kind": "Namespace",
		"name": "ml-research",
		"labels": {"pod-security.kubernetes.io/enforce": ["", "privileged"]},
	}],
}}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_a_training_container_on_rdma_may_lock_memory if {
	mutation.intents == given(worker, "rails") with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_other_capabilities_do_not_stand_in_the_way if {
	at := "/spec/rayClusterSpec/workerGroupSpecs/0/template/spec/containers/0"
	mutation.intents == given(at, "rails") with input as examples.before_rayjob_with_capabilities
}

test_a_namespace_that_is_not_listed_is_told_so if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_elsewhere
	mutation.skips == skipped(worker, "usher.yaml does not list this namespace under isolation.ipcLock") with input as examples.untouched_pytorchjob_elsewhere
}

test_a_user_who_is_not_root_gets_no_effect_of_it if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_of_a_user
	reason := "the container runs as user 1000, who gets no effect of a capability"
	mutation.skips == skipped(worker, reason) with input as examples.untouched_pytorchjob_of_a_user
}

test_without_a_network_device_there_is_nothing_to_lock_memory_for if {
	mutation.intents == set() with input as examples.untouched_jobset_without_device
	mutation.skips == skipped(training, "the pod has no network device, so it cannot use RDMA") with input as examples.untouched_jobset_without_device
}

test_pods_that_share_gpus_get_no_device_to_lock_memory_for if {
	share := {"op": "replace", "path": "/podSets/0/requests/0/route", "value": "fraction annotation"}
	device := {"op": "replace", "path": "/fabrics/infiniband/resources", "value": {"rdma/ib": 1}}
	mutation.intents == given(training, "infiniband") with input as json.patch(examples.untouched_jobset_without_device, [device])
	mutation.intents == set() with input as json.patch(examples.untouched_jobset_without_device, [device, share])
}

test_a_device_that_the_pod_has_of_its_own_is_enough[device] if {
	some device in [
		{"op": "add", "path": "/podSets/0/hostNetwork", "value": true},
		{"op": "replace", "path": "/podSets/0/deviceClaims", "value": 1},
		{"op": "add", "path": "/podSets/0/annotations/networking.gke.io~1interfaces", "value": "[]"},
		{"op": "add", "path": "/podSets/0/containers/0/resources", "value": {"rdma/ib": {}}},
		{"op": "replace", "path": "/fabrics/infiniband/networks", "value": ["rail-0"]},
	]
	with_device := json.patch(examples.untouched_jobset_without_device, [device])
	mutation.intents == given(training, "infiniband") with input as with_device
}

test_ethernet_locks_no_memory if {
	mutation.intents == set() with input as examples.untouched_jobset_on_ethernet
	mutation.skips == skipped(training, "fabric ethernet does not set ipcLock") with input as examples.untouched_jobset_on_ethernet
}

test_whether_the_container_drops_it_is_for_whoever_applies_it if {
	mutation.intents == given(worker, "rails") with input as examples.untouched_pytorchjob_that_drops_it
}

test_what_does_not_train_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_service
	mutation.skips == skipped("", "the role of the workload is service, and only training and models that span pods get a fabric profile") with input as examples.untouched_service
}

test_without_infiniband_no_memory_is_locked if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_without_infiniband
	mutation.skips == skipped(worker, "the container sets NCCL_IB_DISABLE, so it needs no locked memory") with input as examples.untouched_pytorchjob_without_infiniband
}
