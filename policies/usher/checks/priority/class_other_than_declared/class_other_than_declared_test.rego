package usher.checks.priority.class_other_than_declared_test

import data.examples.checks.priority.class_other_than_declared as examples
import data.usher.checks.priority.class_other_than_declared as check

test_another_class_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/priorityClassName",
		"message": `the pod has priority class "inference-critical", but usher.yaml declares training-batch`,
		"remedy": "remove priorityClassName",
	}} with input as examples.bad_job
}

test_the_declared_class_is_good if {
	check.deny == set() with input as examples.good_job
}

test_the_class_that_kubernetes_writes_is_none if {
	usual := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/priorityClassName", "value": "standard"}])
	check.deny == set() with input as usual
}

test_no_class_is_for_the_mutation if {
	none := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/priorityClassName", "value": ""}])
	check.deny == set() with input as none
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}
