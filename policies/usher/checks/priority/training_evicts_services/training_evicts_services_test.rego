package usher.checks.priority.training_evicts_services_test

import data.examples.checks.priority.training_evicts_services as examples
import data.usher.checks.priority.training_evicts_services as check

found(path, pods) := {{
	"path": path,
	"message": $"{pods} evicts pods below training-batch (100000); services without a class have 0",
	"remedy": "name a class with preemptionPolicy Never",
}}

test_a_class_that_evicts_is_found if {
	check.deny == found("/spec/template/spec/priorityClassName", "the pod") with input as examples.bad_job
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/priorityClassName",
		"Worker",
	) with input as examples.bad_pytorchjob
	check.deny == found("/spec/jobTemplate/spec/template/spec/priorityClassName", "the pod") with input as examples.bad_cronjob
}

test_a_class_that_waits_is_good if {
	check.deny == set() with input as examples.good_job
}

test_pods_without_a_class_evict_nobody_of_their_own if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_service_may_evict if {
	check.deny == set() with input as examples.good_deployment
}

test_a_default_above_protects_services if {
	document := object.union(examples.bad_job, {"cluster": {"priorities": {"default": {"value": 100000}}}})
	check.deny == set() with input as document
}
