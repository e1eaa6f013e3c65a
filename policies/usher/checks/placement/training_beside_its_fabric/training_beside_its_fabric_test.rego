package usher.checks.placement.training_beside_its_fabric_test

import data.examples.checks.placement.training_beside_its_fabric as examples
import data.usher.checks.placement.training_beside_its_fabric as check

found(path, name) := {{
	"path": path,
	"message": $"{name} takes whole nodes and does not ask for rdma/hca_shared_devices_a, which all of them offer, so NCCL uses TCP between nodes",
	"remedy": "ask for rdma/hca_shared_devices_a, or declare the pool with its fabric in usher.yaml",
}}

test_pods_that_fill_nodes_without_their_device_are_found if {
	check.deny == found("/spec/pytorchReplicaSpecs/Worker/template", "Worker") with input as examples.bad_whole_nodes
	check.deny == found("/spec/pytorchReplicaSpecs/Worker/template", "Worker") with input as examples.bad_said_to_be_on
	check.deny == found("/spec/template", "the pod") with input as examples.bad_job
	check.deny == found("/spec/mpiReplicaSpecs/Worker/template", "Worker") with input as examples.bad_mpijob
}

test_the_device_is_good if {
	check.deny == set() with input as examples.good_device
}

test_parts_of_nodes_and_one_pod_are_good if {
	check.deny == set() with input as examples.good_half_nodes
	check.deny == set() with input as examples.good_one_pod
}

test_what_the_author_switched_off_is_good if {
	check.deny == set() with input as examples.good_switched_off
	check.deny == set() with input as examples.good_socket
}

test_the_network_of_the_node_is_good if {
	check.deny == set() with input as json.patch(examples.bad_job, [{"op": "add", "path": "/podSets/0/hostNetwork", "value": true}])
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as json.patch(examples.bad_job, [{"op": "replace", "path": "/workload/owned", "value": true}])
}
