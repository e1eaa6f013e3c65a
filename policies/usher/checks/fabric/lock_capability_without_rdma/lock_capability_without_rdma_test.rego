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

test_for_a_user_the_capability_has_no_effect if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/securityContext/capabilities/add/0",
		"message": "container trainer runs as user 1000, who gets no effect of IPC_LOCK, so RDMA cannot lock its buffers unless the runtime allows it, and NCCL uses TCP",
		"remedy": "run as root, or have LimitMEMLOCK of the container runtime raised",
	}} with input as examples.bad_user
}

test_for_root_it_has_an_effect if {
	check.deny == set() with input as examples.good_root
	privileged := [{"op": "add", "path": "/podSets/0/containers/0/securityContext/privileged", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_user, privileged)
}
