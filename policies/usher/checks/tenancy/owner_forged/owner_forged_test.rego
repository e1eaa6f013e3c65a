package usher.checks.tenancy.owner_forged_test

import data.examples.checks.tenancy.owner_forged as examples
import data.usher.checks.tenancy.owner_forged as check

found(kind) := {{
	"path": "/metadata/ownerReferences",
	"message": $"the owner is a {kind}, but only controllers of Kubernetes make objects that a {kind} owns, and the user is not a controller",
	"remedy": "remove metadata.ownerReferences",
}}

test_a_user_owns_no_pods_of_controllers if {
	check.deny == found("ReplicaSet") with input as examples.bad_pod
	check.deny == found("Job") with input as examples.bad_pod_by_service_account
	check.deny == found("Deployment") with input as examples.bad_replicaset
}

test_controllers_do if {
	check.deny == set() with input as examples.good_pod_of_a_replicaset
}

test_so_do_others_that_usher_yaml_names if {
	check.deny == set() with input as examples.good_by_backup
	check.deny == set() with input as examples.good_by_administrator
}

test_operators_have_kinds_of_their_own if {
	check.deny == set() with input as examples.good_pod_of_an_operator
}

test_a_kind_of_that_name_in_another_group_is_another if {
	volcano := json.patch(examples.bad_pod_by_service_account, [
		{"op": "replace", "path": "/workload/owner/group", "value": "batch.volcano.sh"},
	])
	check.deny == set() with input as volcano
}

test_without_an_owner_there_is_nothing_to_forge if {
	check.deny == set() with input as json.remove(examples.bad_pod, ["/workload/owner"])
}

test_an_update_changes_no_owner if {
	update := json.patch(examples.bad_pod, [{"op": "replace", "path": "/review/operation", "value": "UPDATE"}])
	check.deny == set() with input as update
}

test_in_ci_nobody_asks if {
	check.deny == set() with input as json.remove(examples.bad_pod, ["/review"])
}
