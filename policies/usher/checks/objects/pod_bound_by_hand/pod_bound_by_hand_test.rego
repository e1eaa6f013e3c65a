package usher.checks.objects.pod_bound_by_hand_test

import data.examples.checks.objects.pod_bound_by_hand as examples
import data.usher.checks.objects.pod_bound_by_hand as check

found(node) := {
	"path": "/target",
	"message": $"a user who is not a scheduler binds a pod to node \"{node}\"",
	"remedy": "leave the pod to the scheduler, or add the user to the identity schedulers of usher.yaml",
}

test_a_binding_of_a_user_is_found if {
	check.deny == {found("gpu-h100-07")} with input as examples.bad_binding_of_a_user
	check.deny == {found("gpu-a100-01")} with input as examples.bad_binding_of_a_service_account
	check.unknown == set() with input as examples.bad_binding_of_a_user
}

test_administrators_are_no_schedulers if {
	check.deny == {found("")} with input as examples.bad_binding_of_an_administrator
}

test_schedulers_bind_pods if {
	check.deny == set() with input as examples.good_binding_of_the_scheduler
	check.deny == set() with input as examples.good_binding_of_volcano
	check.deny == set() with input as examples.good_binding_of_a_scheduler_of_the_site
}

test_in_a_file_it_is_unknown_who_binds if {
	check.deny == set() with input as examples.unknown_binding
	check.unknown == {{"path": "", "reason": "usher knows the user who binds the pod only in an admission request"}} with input as examples.unknown_binding
}
