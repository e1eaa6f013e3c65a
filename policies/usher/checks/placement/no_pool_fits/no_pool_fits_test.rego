package usher.checks.placement.no_pool_fits_test

import data.examples.checks.placement.no_pool_fits as examples
import data.usher.checks.placement.no_pool_fits as check

found(path, name) := {
	"path": path,
	"message": $"{name} fits on no declared node pool: the pools that offer what it asks for do not have the labels that it selects",
	"remedy": "select the labels of a pool in usher.yaml, or declare the intended pool there",
}

selects(path, name, label, value) := {
	"path": path,
	"message": $"{name} selects nodes with {label} {json.marshal(value)}, and no declared node pool has this label",
	"remedy": "select the devices of a declared pool, or add the label to nodeSelector of their pool in usher.yaml",
}

test_a_product_that_no_pool_has_is_found if {
	check.deny == {selects("/spec/nodeSelector", "the pod", "nvidia.com/gpu.product", "NVIDIA-H100")} with input as examples.bad_pod
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/affinity",
		"Worker",
	)} with input as examples.bad_pytorchjob
}

test_the_pool_of_another_accelerator_does_not_count if {
	check.deny == {found("/spec/template/spec/nodeSelector", "the pod")} with input as examples.bad_deployment
}

test_affinity_that_matches_no_node_is_found if {
	check.deny == {found("/spec/template/spec/affinity", "the pod")} with input as examples.bad_job
}

test_labels_that_are_not_declared_may_be_there if {
	check.deny == set() with input as examples.good_job
}

test_one_alternative_that_fits_is_enough if {
	check.deny == set() with input as examples.good_statefulset
}

test_where_no_pool_has_what_is_asked_nothing_is_known if {
	check.deny == set() with input as examples.good_pod_that_no_pool_serves
}

test_a_pod_set_without_accelerators_needs_no_pool if {
	check.deny == set() with input as examples.good_raycluster
}

test_pods_that_fit_only_pools_for_others_are_found if {
	for_others := json.patch(json.remove(examples.bad_pod, ["/podSets/0/undeclaredDevices"]), [{"op": "add", "path": "/podSets/0/keptOff", "value": [
		{"pool": "a", "reason": "it is for training"},
		{"pool": "b", "reason": "it is for the namespaces web"},
	]}])
	check.deny == {{
		"path": "/spec/nodeSelector",
		"message": "the pod fits only on node pools for others: a (it is for training); b (it is for the namespaces web)",
		"remedy": "select the nodes of a pool for this workload; or let usher.yaml give the workload another role (roles), or the pool other pods (pools[].for)",
	}} with input as for_others
}

test_pods_with_a_pool_of_their_own_are_not_told_of_others if {
	good := json.patch(examples.good_job, [{"op": "add", "path": "/podSets/0/keptOff", "value": [{"pool": "a", "reason": "x"}]}])
	check.deny == set() with input as good
}

test_devices_that_a_pool_may_have_without_saying_so_are_only_assumed_to_be_missing if {
	unnamed := json.patch(examples.bad_pod, [
		{"op": "replace", "path": "/podSets/0/fits", "value": [{"pool": "own", "labels": {"pool": "own"}, "untolerated": []}]},
	])
	check.deny == {object.union(
		selects("/spec/nodeSelector", "the pod", "nvidia.com/gpu.product", "NVIDIA-H100"),
		{"assumption": "usher assumes that usher.yaml names the devices of each pool"},
	)} with input as unnamed
}

test_where_no_node_ever_fits_another_check_says_why if {
	never := json.patch(examples.bad_pod, [
		{"op": "add", "path": "/cluster", "value": {"nodes": {"pods": {"": {"verdict": "never"}}}}},
	])
	check.deny == set() with input as never
}
