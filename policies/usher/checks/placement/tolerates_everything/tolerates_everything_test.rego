package usher.checks.placement.tolerates_everything_test

import data.examples.checks.placement.tolerates_everything as examples
import data.usher.checks.placement.tolerates_everything as check

found(path, name) := {
	"path": path,
	"message": $"{name} tolerates every taint, so it can run on nodes that are cordoned, broken or kept for others",
	"remedy": "name the key of each taint that the pods must tolerate",
}

test_a_toleration_without_a_key_is_found if {
	check.deny == {found("/spec/template/spec/tolerations/1", "the pod")} with input as examples.bad_deployment
}

test_accelerator_pods_need_healthy_nodes_too if {
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/tolerations/0",
		"Worker",
	)} with input as examples.bad_pytorchjob
}

test_every_taint_of_one_effect_is_enough if {
	check.deny == {object.union(
		found("/spec/tolerations/0", "the pod"),
		{"message": "the pod tolerates every taint with effect NoSchedule, so it can run on nodes that are cordoned, broken or kept for others"},
	)} with input as examples.bad_pod
}

test_tolerations_with_keys_are_good if {
	check.deny == set() with input as examples.good_job
}

test_one_that_only_puts_off_evictions_opens_no_node if {
	check.deny == set() with input as examples.good_statefulset
}

test_pods_that_belong_on_every_node_may_have_one if {
	check.deny == set() with input as examples.good_daemonset
}
