package usher.checks.placement.toleration_without_operator_test

import data.examples.checks.placement.toleration_without_operator as examples
import data.usher.checks.placement.toleration_without_operator as check

found(path, name, key) := {
	"path": path,
	"message": $"{name} tolerates \"{key}\" only where the taint has no value, because the toleration has neither operator Exists nor a value",
	"remedy": "add operator: Exists",
	"assumption": $"usher assumes that the taint {key} has a value, because usher.yaml declares no node pool that offers what the pods ask for",
}

test_a_toleration_of_no_value_is_found if {
	check.deny == {found("/spec/template/spec/tolerations/0", "the pod", "nvidia.com/gpu")} with input as examples.bad_job
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/tolerations/1",
		"Worker",
		"nvidia.com/gpu",
	)} with input as examples.bad_pytorchjob
	check.deny == {found("/spec/template/spec/tolerations/0", "the pod", "google.com/tpu")} with input as examples.bad_deployment
}

test_an_operator_or_a_value_is_good if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_job
}

test_another_toleration_may_be_wide_enough if {
	check.deny == set() with input as examples.good_statefulset
	check.deny == set() with input as examples.good_pod_that_tolerates_everything
}

test_other_keys_may_have_no_value if {
	check.deny == set() with input as examples.good_pod
	named := {"site": {"parameters": {"placement/toleration_without_operator": {"keys": ["sku"]}}}}
	check.deny == {found("/spec/tolerations/0", "the pod", "sku")} with input as object.union(examples.good_pod, named)
}

test_where_pools_are_declared_their_taints_are_known if {
	declared := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": true}])
	check.deny == set() with input as declared
}

test_pods_without_accelerators_are_left_alone if {
	check.deny == set() with input as examples.good_mpijob
}

test_where_nodes_form_pools_their_taints_are_known if {
	read := json.patch(examples.bad_job, [{"op": "add", "path": "/podSets/0/poolsFound", "value": true}])
	check.deny == set() with input as read
}
