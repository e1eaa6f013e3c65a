package usher.checks.priority.training_not_below_inference_test

import data.examples.checks.priority.training_not_below_inference as examples
import data.usher.checks.priority.training_not_below_inference as check

found(path, message, kind) := {{
	"path": path,
	"message": message,
	"remedy": $"name a {kind} for training with a value below 1000",
}}

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/priorityClassName"

test_a_class_above_that_of_inference_is_found if {
	check.deny == found(
		worker,
		"Worker trains with research-urgent (2000), but the inference class inference-small has only 1000",
		"class",
	) with input as examples.bad_pytorchjob
}

test_pods_without_a_class_have_the_default_one if {
	check.deny == found(
		"/spec/replicatedJobs/0/template/spec/template/spec/priorityClassName",
		"workers trains with the default class everybody (1000), but the inference class inference-small has only 1000",
		"class",
	) with input as examples.bad_jobset_of_no_class
}

test_classes_of_kueue_are_compared_with_each_other if {
	check.deny == found(
		"/metadata/labels/kueue.x-k8s.io~1priority-class",
		"the workload trains in queue class research-now (1000), but the inference class production-inference has only 1000",
		"queue class",
	) with input as examples.bad_queue_class
}

test_a_class_below_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.unknown == set() with input as examples.good_pytorchjob
}

test_what_does_not_train_may_rank_where_it_likes if {
	check.deny == set() with input as examples.good_deployment
}

test_a_class_for_inference_is_for_another_check if {
	check.deny == set() with input as examples.good_training_in_a_class_for_inference
}

test_a_site_has_names_of_its_own if {
	site := object.union(examples.good_pytorchjob, {"site": {"parameters": {"priority/training_not_below_inference": {"inferenceClasses": ["trivial"]}}}})
	count(check.deny) == 1 with input as site
}

test_without_classes_nothing_is_compared if {
	document := json.patch(examples.bad_pytorchjob, [{"op": "remove", "path": "/cluster/priorities/notAbove"}])
	check.deny == set() with input as document
}

test_a_value_that_cannot_be_read_is_unknown if {
	document := json.patch(examples.bad_pytorchjob, [{
		"op": "remove",
		"path": "/cluster/priorities/classes/research-urgent/value",
	}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": worker,
		"reason": "usher cannot read the value of PriorityClass research-urgent",
	}} with input as document
}

test_of_several_pod_sets_only_those_that_rank_too_high_are_found if {
	master := object.union(examples.bad_pytorchjob.podSets[0], {
		"name": "Master",
		"specPath": "/spec/pytorchReplicaSpecs/Master/template/spec",
		"priorityClassName": "research-training",
	})
	document := json.patch(examples.bad_pytorchjob, [
		{"op": "add", "path": "/podSets/0", "value": master},
		{
			"op": "add",
			"path": "/cluster/priorities/classes/research-training",
			"value": {"exists": true, "value": 100, "preempts": true},
		},
	])
	{finding.path | some finding in check.deny} == {worker} with input as document
}

test_a_queue_class_for_inference_is_for_another_check if {
	document := json.patch(examples.bad_queue_class, [{
		"op": "replace",
		"path": "/workload/labels/kueue.x-k8s.io~1priority-class",
		"value": "production-inference",
	}])
	check.deny == set() with input as document
}

test_a_class_that_is_not_there_is_for_another_check if {
	document := json.patch(examples.bad_pytorchjob, [{
		"op": "replace",
		"path": "/cluster/priorities/classes/research-urgent",
		"value": {"exists": false},
	}])
	check.deny == set() with input as document
	check.unknown == set() with input as document
}

test_what_does_not_train_is_left_alone_whatever_classes_rank if {
	batch := {"workload": {"role": "batch"}}
	check.deny == set() with input as object.union(examples.bad_pytorchjob, batch)
	check.deny == set() with input as object.union(examples.bad_queue_class, batch)
}
