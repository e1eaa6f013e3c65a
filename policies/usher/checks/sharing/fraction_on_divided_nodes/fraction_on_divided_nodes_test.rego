package usher.checks.sharing.fraction_on_divided_nodes_test

import data.examples.checks.sharing.fraction_on_divided_nodes as examples
import data.usher.checks.sharing.fraction_on_divided_nodes as check

finding(path, name, divided) := {
	"path": path,
	"message": $"the pod asks for a part of a GPU by {name}, but {divided}, and KAI-Scheduler divides whole GPUs only",
	"remedy": "ask for a slice (nvidia.com/mig-*), or select nodes whose GPUs are whole",
}

test_nodes_that_mig_divides_are_found if {
	check.deny == {finding(
		"/metadata/annotations/gpu-fraction",
		"gpu-fraction",
		`it selects nvidia.com/gpu.product: "NVIDIA-H100-80GB-HBM3-MIG-1g.20gb"`,
	)} with input as examples.bad_product
	check.deny == {finding(
		"/metadata/annotations/gpu-memory",
		"gpu-memory",
		`it selects nvidia.com/mig.config: "all-1g.20gb"`,
	)} with input as examples.bad_layout
	check.deny == {finding(
		"/metadata/annotations/gpu-fraction",
		"gpu-fraction",
		`it selects node-role.kubernetes.io/mig-enabled: "true"`,
	)} with input as examples.bad_role
}

test_pools_that_are_divided_are_found if {
	pooled := object.union(examples.good_whole, {"podSets": [object.union(examples.good_whole.podSets[0], {"fits": [
		{"pool": "h100-mig", "labels": {"nvidia.com/mig.config": "all-balanced"}},
	]})]})
	check.deny == {finding("/metadata/annotations/gpu-fraction", "gpu-fraction", "it can only run in the pool h100-mig, which is divided by MIG")} with input as pooled
	mixed := json.patch(pooled, [{"op": "add", "path": "/podSets/0/fits/1", "value": {"pool": "l4", "labels": {}}}])
	check.deny == {finding("/metadata/annotations/gpu-fraction", "gpu-fraction", "it may also run in the pool h100-mig, which is divided by MIG")} with input as mixed
	whole := json.patch(pooled, [{"op": "replace", "path": "/podSets/0/fits/0/labels", "value": {}}])
	check.deny == set() with input as whole
}

test_divided_nodes_that_the_pod_does_not_exclude_are_found if {
	product := "NVIDIA-H100-80GB-HBM3-MIG-1g.20gb"
	known := {"cluster": {"fractions": {examples.good_whole.podSets[0].path: product}}}
	check.deny == {finding(
		"/metadata/annotations/gpu-fraction",
		"gpu-fraction",
		$"it may also run on nodes with nvidia.com/gpu.product: \"{product}\"",
	)} with input as object.union(examples.good_whole, known)
}

test_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_whole
	check.deny == set() with input as examples.good_disabled
}

test_other_schedulers_are_for_another_check if {
	check.deny == set() with input as examples.good_other_scheduler
}

test_whole_gpus_of_divided_nodes_are_good if {
	whole := json.patch(examples.bad_product, [{"op": "replace", "path": "/podSets/0/requests/0/route", "value": "extended resource"}])
	check.deny == set() with input as whole
}

test_pools_with_other_labels_are_good if {
	pooled := json.patch(examples.good_whole, [{"op": "replace", "path": "/podSets/0/fits", "value": [{"pool": "l4", "labels": {"pool": "l4"}}]}])
	check.deny == set() with input as pooled
}

test_memory_of_a_gpu_needs_a_node_that_says_it if {
	check.deny == {{
		"path": "/metadata/annotations/gpu-memory",
		"message": `the pod asks for memory of a GPU by gpu-memory, but no node with GPUs that it selects has the label nvidia.com/gpu.memory (for example "spark-0"), so KAI-Scheduler never places it`,
		"remedy": "ask for gpu-fraction, or have the nodes labelled with the memory of their GPUs in MiB",
	}} with input as examples.bad_unknown_memory
	check.deny == set() with input as examples.good_known_memory
	check.deny == set() with input as examples.good_fraction_of_unknown_memory
}
