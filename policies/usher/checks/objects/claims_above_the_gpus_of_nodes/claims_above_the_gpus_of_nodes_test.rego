package usher.checks.objects.claims_above_the_gpus_of_nodes_test

import data.examples.checks.objects.claims_above_the_gpus_of_nodes as examples
import data.usher.checks.objects.claims_above_the_gpus_of_nodes as check

found(path) := {{
	"path": path,
	"message": "the pod claims 8 GPUs of one node, and no node has more than 4",
	"remedy": "claim at most 4 GPUs in each pod, and run more pods",
	"assumption": "usher assumes that the label nvidia.com/gpu.count is on all nodes with GPUs, and that no node with more is added",
}}

test_a_count_above_the_gpus_of_a_node_is_found if {
	check.deny == found("/spec/resourceClaims") with input as examples.bad_count
}

test_several_claims_count_together if {
	check.deny == found("/spec/template/spec/resourceClaims") with input as examples.bad_two_claims
}

test_as_many_gpus_as_a_node_has_are_good if {
	check.deny == set() with input as examples.good_count
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_count, owned)
}
