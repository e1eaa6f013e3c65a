package usher.checks.priority.notebook_that_preempts_test

import data.examples.checks.priority.notebook_that_preempts as examples
import data.usher.checks.priority.notebook_that_preempts as check

found(path, class) := {{
	"path": $"{path}/priorityClassName",
	"message": $`the pod is interactive, but its priority class "{class}" lets it evict other pods to get its accelerators`,
	"remedy": "name a class of low value",
}}

test_classes_for_services_are_found_on_notebooks if {
	check.deny == found("/spec/template/spec", "inference-critical") with input as examples.bad_notebook
	check.deny == found("/spec", "production-high") with input as examples.bad_pod
}

test_a_site_has_names_of_its_own if {
	check.deny == found("/spec/template/spec", "gold") with input as examples.bad_statefulset
}

test_other_classes_and_none_are_good if {
	check.deny == set() with input as examples.good_notebook
	check.deny == set() with input as examples.good_pod_without_class
}

test_what_is_no_notebook_may_have_them if {
	check.deny == set() with input as examples.good_pod_that_is_no_notebook
}

test_without_accelerators_a_notebook_takes_none_from_others if {
	check.deny == set() with input as examples.good_notebook_without_accelerator
}

test_classes_of_the_system_are_told_by_another_check if {
	check.deny == set() with input as examples.good_pod_of_system_class
}

test_a_class_that_usher_yaml_declares_is_good if {
	declared := {"site": {"priority": {"priorityClass": "inference-critical"}}}
	check.deny == set() with input as object.union(examples.bad_notebook, declared)
}
