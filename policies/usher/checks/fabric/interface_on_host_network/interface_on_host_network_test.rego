package usher.checks.fabric.interface_on_host_network_test

import data.examples.checks.fabric.interface_on_host_network as examples
import data.usher.checks.fabric.interface_on_host_network as check

found(path, container, name, value, way) := {{
	"path": path,
	"message": $`{container}: {name} is "{value}", but with hostNetwork the container sees the interfaces of its node, which may have no eth0`,
	"remedy": $"remove {name}, or {way}",
}}

test_the_interface_of_pods_is_found_on_the_network_of_the_node if {
	check.deny == found("/spec/replicatedJobs/0/template/spec/template/spec/containers/0/env/0", "container trainer of workers", "NCCL_SOCKET_IFNAME", "eth0", "leave interfaces out: ^docker0,lo") with input as examples.bad_jobset
	check.deny == found("/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0", "container pytorch of Worker", "GLOO_SOCKET_IFNAME", "eth0", "name the interface of the nodes") with input as examples.bad_pytorchjob
	check.deny == found("/spec/containers/0/env/0", "container nccl", "NCCL_SOCKET_IFNAME", "eth0,eth1", "leave interfaces out: ^docker0,lo") with input as examples.bad_pod
}

test_interfaces_left_out_and_pods_with_a_network_of_their_own_are_good if {
	check.deny == set() with input as examples.good_jobset_that_leaves_interfaces_out
	check.deny == set() with input as examples.good_jobset_on_the_network_of_pods
}
