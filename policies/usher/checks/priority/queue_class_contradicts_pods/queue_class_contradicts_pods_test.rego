package usher.checks.priority.queue_class_contradicts_pods_test

import data.examples.checks.priority.queue_class_contradicts_pods as examples
import data.usher.checks.priority.queue_class_contradicts_pods as check

found(message) := {{
	"path": "/metadata/labels/kueue.x-k8s.io~1priority-class",
	"message": message,
	"remedy": "choose two classes of the same rank",
}}

test_orders_of_names_that_contradict_each_other_are_found if {
	check.deny == found("queue class urgent (500) ranks above research-training (100), but its pods' class spot-training (100) ranks below research-training (1000)") with input as examples.bad_pytorchjob
	check.deny == found("queue class urgent (500) ranks above research-training (100), but its pods' class (no class, 0) ranks below research-training (1000)") with input as examples.bad_job_of_no_class
}

test_orders_against_what_usher_yaml_gives_are_found if {
	check.deny == found("queue class spot-training (10) ranks below urgent (500), but its pods' class rescue (5000) ranks above research-training (1000)") with input as examples.bad_against_what_is_declared
}

test_classes_of_one_order_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_one_class_alone_contradicts_nothing if {
	check.deny == set() with input as examples.good_job_without_queue_class
}
