package usher.checks.placement.node_chosen_by_hand_test

import data.examples.checks.placement.node_chosen_by_hand as examples
import data.usher.checks.placement.node_chosen_by_hand as check

found(path, name, node) := {
	"path": path,
	"message": $"{name} sets nodeName to \"{node}\" and bypasses the scheduler, so no taint, queue or gang holds it back",
	"remedy": "remove nodeName; to use this node, select its label kubernetes.io/hostname",
}

test_a_node_in_a_file_is_found if {
	check.deny == {found("/spec/nodeName", "the pod", "gpu-h100-07")} with input as examples.bad_pod
}

test_it_is_found_in_templates if {
	check.deny == {found(
		"/spec/template/spec/nodeName",
		"the pod",
		"gpu-h100-07",
	)} with input as examples.bad_job
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/nodeName",
		"Worker",
		"gpu-a100-01",
	)} with input as examples.bad_pytorchjob
}

test_a_user_who_asks_for_it_is_found if {
	check.deny == {found("/spec/nodeName", "the pod", "gpu-h100-07")} with input as examples.bad_pod_of_a_user
}

test_controllers_may_choose_nodes if {
	check.deny == set() with input as examples.good_mirror_pod
}

test_of_a_running_pod_nobody_can_tell if {
	check.deny == set() with input as examples.good_running_pod
}

test_pods_without_a_node_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_pods_without_accelerators_are_found_elsewhere if {
	check.deny == set() with input as examples.good_cpu_pod
}
