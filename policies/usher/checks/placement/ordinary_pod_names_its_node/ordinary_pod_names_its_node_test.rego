package usher.checks.placement.ordinary_pod_names_its_node_test

import data.examples.checks.placement.ordinary_pod_names_its_node as examples
import data.usher.checks.placement.ordinary_pod_names_its_node as check

found(path, name, node) := {
	"path": path,
	"message": $"{name} sets nodeName to \"{node}\" and bypasses the scheduler, so no taint keeps it off if that node has accelerators",
	"remedy": "remove nodeName; to use this node, select its label kubernetes.io/hostname",
}

test_a_node_in_a_file_is_found if {
	check.deny == {found("/spec/nodeName", "the pod", "gpu-h100-07")} with input as examples.bad_pod
	check.deny == {found("/spec/template/spec/nodeName", "the pod", "gpu-h100-07")} with input as examples.bad_deployment
}

test_a_pod_set_beside_accelerator_pods_is_found if {
	check.deny == {found(
		"/spec/mpiReplicaSpecs/Launcher/template/spec/nodeName",
		"Launcher",
		"gpu-h100-07",
	)} with input as examples.bad_mpijob
}

test_administrators_may_choose_nodes if {
	check.deny == set() with input as examples.good_debug_pod_of_an_administrator
}

test_in_system_namespaces_anybody_may if {
	check.deny == set() with input as examples.good_pod_in_a_system_namespace
}

test_accelerator_pods_are_found_elsewhere if {
	check.deny == set() with input as examples.good_gpu_pod
}
