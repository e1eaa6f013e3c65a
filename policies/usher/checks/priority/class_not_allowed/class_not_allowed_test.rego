package usher.checks.priority.class_not_allowed_test

import data.examples.checks.priority.class_not_allowed as examples
import data.usher.checks.priority.class_not_allowed as check

found(path) := {{
	"path": path,
	"message": `priority class "inference-critical" is not allowed in this namespace`,
	"remedy": "use one of the allowed classes: research, research-spot",
}}

test_a_class_of_others_is_found_wherever_it_is_named if {
	check.deny == found("/spec/template/spec/priorityClassName") with input as examples.bad_deployment
	check.deny == found("/spec/priorityClassName") with input as examples.bad_volcano_job
	check.deny == found("/spec/runPolicy/schedulingPolicy/priorityClass") with input as examples.bad_mpijob
	check.deny == found("/metadata/labels/ray.io~1priority-class-name") with input as examples.bad_raycluster
	check.deny == found("/metadata/labels/priorityClassName") with input as examples.bad_pod_of_kai
}

test_a_class_of_the_namespace_is_good if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_mpijob
}

test_no_class_at_all_is_told_by_another_check if {
	without := json.patch(examples.bad_deployment, [{"op": "replace", "path": "/podSets/0/priorityClassName", "value": ""}])
	check.deny == set() with input as without
}

test_classes_of_the_system_are_told_by_another_check if {
	check.deny == set() with input as examples.good_deployment_of_system_class
}

test_without_a_list_every_class_is_good if {
	check.deny == set() with input as examples.good_deployment_elsewhere
}

test_system_namespaces_are_left_alone if {
	check.deny == set() with input as examples.good_deployment_of_the_operator
}
