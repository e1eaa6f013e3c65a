package usher.checks.fabric.network_device_on_some_pods_only_test

import data.examples.checks.fabric.network_device_on_some_pods_only as examples
import data.usher.checks.fabric.network_device_on_some_pods_only as check

test_pods_without_the_device_of_the_others_are_found if {
	check.deny == {{"path": "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0/resources", "message": "container leader of leader asks for no vpc.amazonaws.com/efa, but other pods of the job do, so they have no fast network in common", "remedy": "add vpc.amazonaws.com/efa to its limits"}} with input as examples.bad_leader_worker_set
	check.deny == {{"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources", "message": "container pytorch of Master asks for no vpc.amazonaws.com/efa, but other pods of the job do, so they have no fast network in common", "remedy": "add vpc.amazonaws.com/efa to its limits"}} with input as examples.bad_master
	check.deny == {{"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources", "message": "container pytorch of Worker asks for no rdma/ib, but other pods of the job do, so they have no fast network in common", "remedy": "add rdma/ib to its limits"}} with input as examples.bad_worker
}

test_the_same_devices_everywhere_are_good if {
	check.deny == set() with input as examples.good_all
	check.deny == set() with input as examples.good_network_of_the_node
	check.deny == set() with input as examples.good_none
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_leader_worker_set, owned)
}
