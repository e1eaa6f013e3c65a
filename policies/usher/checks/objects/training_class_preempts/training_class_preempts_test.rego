package usher.checks.objects.training_class_preempts_test

import data.examples.checks.objects.training_class_preempts as examples
import data.usher.checks.objects.training_class_preempts as check

found(name, value) := {{
	"path": "/preemptionPolicy",
	"message": $"pods of class {name} evict every pod below priority {value}, also services without a class",
	"remedy": "set preemptionPolicy to Never",
}}

test_a_class_for_training_that_evicts_is_found if {
	check.deny == found("training-batch", 100000) with input as examples.bad_class
	check.deny == found("research-spot", 1) with input as examples.bad_class_without_policy
	check.deny == found("nightly-training", 500) with input as examples.bad_class_by_review
}

test_a_class_that_waits_is_good if {
	check.deny == set() with input as examples.good_class
}

test_a_class_of_value_0_evicts_no_service if {
	check.deny == set() with input as examples.good_class_of_value_0
}

test_other_classes_may_evict if {
	check.deny == set() with input as examples.good_class_for_inference
}

test_a_site_has_names_of_its_own if {
	named := object.union(examples.good_class_for_inference, {"site": {"parameters": {
		"objects/training_class_preempts": {"trainingClasses": ["critical"]},
	}}})
	check.deny == found("inference-critical", 100000) with input as named
}
