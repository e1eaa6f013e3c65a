package usher.checks.gang.kai_queue_not_allowed_test

import data.examples.checks.gang.kai_queue_not_allowed as examples
import data.usher.checks.gang.kai_queue_not_allowed as check

found(path) := {{
	"path": path,
	"message": `KAI queue "production" is not allowed in this namespace`,
	"remedy": "use one of the allowed queues: research, research-spot",
}}

test_a_queue_of_others_is_found_wherever_it_is_named if {
	check.deny == found("/metadata/labels/kai.scheduler~1queue") with input as examples.bad_pod
	check.deny == found("/metadata/labels/kai.scheduler~1queue") with input as examples.bad_raycluster
	check.deny == found("/spec/template/metadata/labels/kai.scheduler~1queue") with input as examples.bad_job
}

test_a_project_names_a_queue_too if {
	check.deny == found("/metadata/labels/project") with input as examples.bad_pytorchjob
}

test_a_queue_of_the_namespace_is_good if {
	check.deny == set() with input as examples.good_pod
}

test_without_a_list_every_queue_is_good if {
	check.deny == set() with input as examples.good_elsewhere
}
