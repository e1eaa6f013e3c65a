package usher.checks.placement.gpus_across_numa_nodes_test

import data.examples.checks.placement.gpus_across_numa_nodes as examples
import data.usher.checks.placement.gpus_across_numa_nodes as check

found(path, name, asked) := {{
	"path": path,
	"message": $"a container of {name} asks for {asked} GPUs, but the kubelets of pool h100 refuse more than the 4 GPUs of one NUMA node",
	"remedy": "ask for at most 4 GPUs per container, or select a pool without the policy single-numa-node",
}}

test_more_gpus_than_a_numa_node_has_are_found if {
	check.deny == found("/spec", "the pod", 8) with input as examples.bad_pod_of_eight
	check.deny == found("/spec", "the pod", 5) with input as examples.bad_pod_of_five
}

test_templates_are_looked_at_too if {
	path := "/spec/pytorchReplicaSpecs/Worker/template/spec"
	check.deny == found(path, "Worker", 8) with input as examples.bad_pytorchjob
}

test_the_gpus_of_one_numa_node_are_good if {
	check.deny == set() with input as examples.good_pod_of_four
}

test_every_container_counts_for_itself if {
	check.deny == set() with input as examples.good_two_containers
}
