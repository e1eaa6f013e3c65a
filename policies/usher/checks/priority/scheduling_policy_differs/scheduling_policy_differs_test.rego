package usher.checks.priority.scheduling_policy_differs_test

import data.examples.checks.priority.scheduling_policy_differs as examples
import data.usher.checks.priority.scheduling_policy_differs as check

found(template, class, of_policy) := {{
	"path": $"{template}/spec/priorityClassName",
	"message": $`Worker has priority class "{class}", but the job's scheduling policy has "{of_policy}"`,
	"remedy": "name the same class in both places",
}}

test_a_template_that_differs_from_the_policy_is_found if {
	pytorch := "/spec/pytorchReplicaSpecs/Worker/template"
	check.deny == found(pytorch, "research-spot", "research") with input as examples.bad_pytorchjob
	jax := "/spec/jaxReplicaSpecs/Worker/template"
	check.deny == found(jax, "research", "research-spot") with input as examples.bad_jaxjob
}

test_only_templates_with_accelerators_are_compared if {
	mpi := "/spec/mpiReplicaSpecs/Worker/template"
	check.deny == found(mpi, "research", "research-high") with input as examples.bad_mpijob
}

test_one_class_in_both_places_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_place_without_class_is_left_alone if {
	check.deny == set() with input as examples.good_pytorchjob_with_a_template_without_class
	check.deny == set() with input as examples.good_jaxjob_without_policy
}
