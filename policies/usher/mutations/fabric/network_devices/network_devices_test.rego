package usher.mutations.fabric.network_devices_test

import data.examples.mutations.fabric.network_devices as examples
import data.usher.mutations.fabric.network_devices as mutation

given(at) := {{
	"at": at,
	"field": "resource",
	"value": {"name": "vpc.amazonaws.com/efa", "amount": "32"},
	"reason": "fabric rails needs it, and the pod can run only on nodes with this fabric",
}}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_a_training_container_asks_for_the_devices_of_the_fabric if {
	mutation.intents == given("/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0") with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_workers_of_a_group_ask_for_them_too if {
	mutation.intents == given("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0") with input as examples.before_leaderworkerset
}

test_what_a_container_says_of_the_device_itself_stays if {
	at := "/spec/replicatedJobs/0/template/spec/template/spec/containers/0"
	mutation.intents == set() with input as examples.untouched_jobset_that_asks_for_some
	mutation.skips == skipped(at, "the container already asks for vpc.amazonaws.com/efa") with input as examples.untouched_jobset_that_asks_for_some
}

test_another_device_for_rdma_stays_alone if {
	wanted := {"op": "replace", "path": "/fabrics/rails/resources", "value": {"rdma/ib": 1}}
	asked := {"op": "add", "path": "/podSets/0/containers/0/resources", "value": {"rdma/hca": {}}}
	mutation.intents == set() with input as json.patch(examples.before_pytorchjob, [wanted, asked])
	mutation.skips == skipped(worker, "the container already asks for rdma/hca, another device like rdma/ib") with input as json.patch(examples.before_pytorchjob, [wanted, asked])

	# The profile may name several.
	both := {"op": "replace", "path": "/fabrics/rails/resources", "value": {"rdma/ib": 1, "rdma/hca": 1}}
	count(mutation.intents) == 1 with input as json.patch(examples.before_pytorchjob, [both, asked])

	# Other devices of a domain are not for RDMA.
	eni := {"op": "add", "path": "/podSets/0/containers/0/resources", "value": {"vpc.amazonaws.com/pod-eni": {}}}
	count(mutation.intents) == 1 with input as json.patch(examples.before_pytorchjob, [eni])
}

test_a_fabric_without_devices_gives_none if {
	plain := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/fabrics/rails/resources", "value": {}}])
	mutation.intents == set() with input as plain
	mutation.skips == skipped("/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0", "fabric rails lists no devices") with input as plain
}

test_a_pod_of_a_job_has_what_its_template_was_given if {
	made := json.patch(examples.untouched_job_of_one_pod, [{"op": "replace", "path": "/workload/owned", "value": true}])
	mutation.intents == set() with input as made
	mutation.skips == skipped("", "a controller made this pod, and the webhook gives the fabric profile to its template") with input as made
}

test_one_pod_and_what_does_not_train_are_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_of_one_pod
	mutation.skips == skipped("", "the workload has only one pod, which does not use the network between nodes") with input as examples.untouched_job_of_one_pod
	mutation.intents == set() with input as examples.untouched_service
	mutation.skips == skipped("", "the role of the workload is service, and only training and models that span pods get a fabric profile") with input as examples.untouched_service
}

job(gpus, of_node) := json.patch(examples.before_pytorchjob, [
	{
		"op": "replace",
		"path": "/podSets/0/containers/0/accelerators/nvidia.com~1gpu/limits",
		"value": {"text": $"{gpus}", "value": gpus, "milli": gpus * 1000, "whole": true},
	},
	{"op": "add", "path": "/podSets/0/fits/0/gpus", "value": of_node},
])

gets(devices, document) if {
	{intent.value.amount | some intent in mutation.intents} == {devices} with input as document
}

test_a_part_of_the_gpus_of_a_node_gets_that_part_of_the_devices if {
	gets("32", job(8, 8))
	gets("16", job(4, 8))
	gets("12", job(3, 8))
	gets("1", job(1, 64))
	gets("32", job(16, 8))
}

with_route(route) := json.patch(job(4, 8), [{"op": "replace", "path": "/podSets/0/requests/0/route", "value": route}])

test_a_mig_instance_gets_one_device if {
	gets("1", with_route("partition"))
}

claiming(gpus) := json.patch(with_route("device claim"), [
	{"op": "replace", "path": "/podSets/0/containers/0/accelerators", "value": {}},
	{"op": "replace", "path": "/podSets/0/requests/0/minimum/value", "value": gpus},
])

test_gpus_of_device_claims_count if {
	gets("32", claiming(8))
	gets("16", claiming(4))
}

test_a_pool_that_does_not_say_its_gpus_gives_all_devices if {
	gets("32", json.remove(job(1, 8), ["/podSets/0/fits/0/gpus"]))
}

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

test_without_infiniband_there_are_no_devices_for_it if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_without_infiniband
	mutation.skips == skipped(worker, "the container sets NCCL_IB_DISABLE, so it does not use rdma/ib") with input as examples.untouched_pytorchjob_without_infiniband
}

with_variable(document, name, value) := json.patch(document, [{
	"op": "add",
	"path": "/podSets/0/containers/0/environment",
	"value": {name: {"path": "/env/0", "value": value}},
}])

test_efa_does_not_need_infiniband_but_ends_with_sockets if {
	mutation.intents == given(worker) with input as with_variable(examples.before_pytorchjob, "NCCL_IB_DISABLE", "1")
	mutation.intents == set() with input as with_variable(examples.before_pytorchjob, "NCCL_NET", "Socket")
}

test_a_switch_that_is_not_off_changes_nothing[value] if {
	some value in ["0", ""]
	count(mutation.intents) == 1 with input as with_variable(examples.untouched_pytorchjob_without_infiniband, "NCCL_IB_DISABLE", value)
}

test_what_the_fabric_itself_switches_off_was_not_the_author if {
	by_fabric := json.patch(examples.untouched_pytorchjob_without_infiniband, [{
		"op": "add",
		"path": "/fabrics/cards/env/NCCL_IB_DISABLE",
		"value": "1",
	}])
	count(mutation.intents) == 1 with input as by_fabric
}

# The leader runs on nodes that no pool has.
with_a_leader(resources) := json.patch(examples.before_leaderworkerset, [{
	"op": "add",
	"path": "/podSets/-",
	"value": object.union(examples.before_leaderworkerset.podSets[0], {
		"name": "leader",
		"path": "/spec/leaderWorkerTemplate/leaderTemplate/spec",
		"fits": [],
		"undeclaredDevices": true,
		"containers": [object.union(container, {"resources": resources}) |
			some container in examples.before_leaderworkerset.podSets[0].containers
		],
	}),
}])

test_no_device_for_some_pods_of_a_job_only if {
	mutation.intents == set() with input as with_a_leader({})
	some skip in mutation.skips with input as with_a_leader({})
	contains(skip.reason, "leader of the same job gets no network device")
}

test_pods_beside_those_with_devices_of_their_own_get_devices if {
	count(mutation.intents) == 1 with input as with_a_leader({"vpc.amazonaws.com/efa": {}})
}
