package usher.checks.tenancy.runtime_class_unknown_test

import data.examples.checks.tenancy.runtime_class_unknown as examples
import data.usher.checks.tenancy.runtime_class_unknown as check

found(path, pods, name) := {{
	"path": path,
	"message": $"{pods} names RuntimeClass \"{name}\", which does not exist, so the API server refuses the pods",
	"remedy": "name a class that `kubectl get runtimeclasses` lists, or remove the field",
	"missing": {"group": "node.k8s.io", "kind": "RuntimeClass", "name": name},
}}

test_a_class_that_is_not_there_is_found if {
	check.deny == found("/spec/runtimeClassName", "the pod", "nvidia-cdi") with input as examples.bad_pod
	check.deny == found("/spec/template/spec/runtimeClassName", "the pod", "kata-gpu") with input as examples.bad_deployment
	path := "/spec/pytorchReplicaSpecs/Worker/template/spec/runtimeClassName"
	check.deny == found(path, "Worker", "nvidia-cdi") with input as examples.bad_pytorchjob
	check.unknown == set() with input as examples.bad_pod
}

test_a_class_that_is_there_is_good if {
	check.deny == set() with input as examples.good_pod
	check.unknown == set() with input as examples.good_pod
}

test_pods_that_name_none_are_left_alone if {
	check.deny == set() with input as examples.good_deployment
	check.unknown == set() with input as examples.good_deployment
}

test_without_any_classes_among_the_facts_it_is_unknown if {
	document := json.patch(examples.bad_pod, [{"op": "remove", "path": "/cluster/runtimeClasses/nvidia-cdi"}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": "/spec/runtimeClassName",
		"reason": `usher does not know whether RuntimeClass "nvidia-cdi" exists: the facts of the cluster contain no RuntimeClasses`,
	}} with input as document
}

test_pods_that_name_none_are_left_alone_where_nothing_is_known_of_any if {
	document := json.patch(
		examples.bad_pod,
		[
			{"op": "replace", "path": "/podSets/0/runtimeClassName", "value": ""},
			{"op": "replace", "path": "/cluster/runtimeClasses", "value": {}},
		],
	)
	check.unknown == set() with input as document
}
