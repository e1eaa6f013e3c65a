package usher.checks.fabric.lock_capability_without_rdma_test

import data.examples.checks.fabric.lock_capability_without_rdma as examples
import data.usher.checks.fabric.lock_capability_without_rdma as check

found(path, container) := {{
	"path": path,
	"message": $"{container} has IPC_LOCK, which only RDMA needs, but the pod asks for no network device",
	"remedy": "remove IPC_LOCK, or ask for the RDMA device",
}}

test_the_capability_alone_is_found if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/securityContext/capabilities/add/0",
		"container pytorch of Worker",
	) with input as examples.bad_pytorchjob
	check.deny == found(
		"/spec/template/spec/containers/0/securityContext/capabilities/add/1",
		"container vllm",
	) with input as examples.bad_deployment
}

test_runtimes_take_the_name_in_other_spellings if {
	check.deny == found(
		"/spec/containers/0/securityContext/capabilities/add/0",
		"container train",
	) with input as examples.bad_pod
}

test_whatever_may_be_a_fabric_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_gke_pod
	check.deny == set() with input as examples.good_host_network
	check.deny == set() with input as examples.good_claim
}

test_a_network_of_multus_is_one if {
	multus := json.patch(examples.bad_deployment, [
		{"op": "add", "path": "/podSets/0/annotations/k8s.v1.cni.cncf.io~1networks", "value": "rdma-net"},
	])
	check.deny == set() with input as multus
}

test_system_namespaces_may_have_it if {
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"systemNamespace": true}})
}
