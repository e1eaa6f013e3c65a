package usher.checks.priority.pods_rank_below_their_gang_test

import data.examples.checks.priority.pods_rank_below_their_gang as examples
import data.usher.checks.priority.pods_rank_below_their_gang as check

found(template, pods) := {{
	"path": $"{template}/template/spec/priorityClassName",
	"message": $"the gang has class research-training (1000), but {pods} names no class and runs with 0",
	"remedy": "set priorityClassName to research-training in the template",
}}

test_pods_without_the_class_of_their_gang_are_found if {
	check.deny == found("/spec/pytorchReplicaSpecs/Worker", "Worker") with input as examples.bad_pytorchjob
	check.deny == found("/spec/mpiReplicaSpecs/Worker", "Worker") with input as examples.bad_mpijob
	check.deny == found("/spec/workerGroupSpecs/0", "gpu") with input as examples.bad_raycluster
}

test_pods_of_the_same_class_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_gang_of_less_is_evicted_no_sooner if {
	check.deny == set() with input as examples.good_gang_of_no_rank
}

test_a_default_that_is_as_much_is_good if {
	document := object.union(examples.bad_mpijob, {"cluster": {"priorities": {"default": {"value": 1000}}}})
	check.deny == set() with input as document
}
