package usher.checks.priority.class_unknown_test

import data.examples.checks.priority.class_unknown as examples
import data.usher.checks.priority.class_unknown as check

found(path, pods) := {{
	"path": path,
	"message": $"{pods} names PriorityClass research-high, which does not exist, so the API server refuses the pods",
	"remedy": "name a class that `kubectl get priorityclasses` lists, or create this one",
	"missing": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "research-high"},
}}

test_a_class_that_is_not_there_is_found if {
	check.deny == found("/spec/template/spec/priorityClassName", "the pod") with input as examples.bad_job
	check.deny == found("/spec/priorityClassName", "the pod") with input as examples.bad_pod
	check.unknown == set() with input as examples.bad_pod
}

test_each_pod_set_is_asked_for_itself if {
	path := "/spec/pytorchReplicaSpecs/Worker/template/spec/priorityClassName"
	check.deny == found(path, "Worker") with input as examples.bad_pytorchjob
}

test_a_class_that_is_there_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_pods_that_name_no_class_are_left_alone if {
	check.deny == set() with input as examples.good_deployment
}

test_without_any_classes_among_the_facts_it_is_unknown if {
	document := json.patch(examples.bad_pod, [{"op": "remove", "path": "/cluster/priorities/classes/research-high/exists"}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": "/spec/priorityClassName",
		"reason": "usher does not know whether PriorityClass research-high exists: the facts of the cluster contain no PriorityClasses",
	}} with input as document
}
