package usher.checks.tenancy.owner_forged_test

import data.examples.checks.tenancy.owner_forged as examples
import data.usher.checks.tenancy.owner_forged as check

message(kind) := $"the owner is a {kind}, but the user who names it is not a controller, so usher judges the object by itself"

found(kind) := {{
	"path": "/metadata/ownerReferences",
	"message": message(kind),
	"remedy": "remove metadata.ownerReferences",
}}

assumed(kind) := {{
	"path": "/metadata/ownerReferences",
	"message": message(kind),
	"remedy": "remove metadata.ownerReferences, or list the operator in usher.yaml under identities.controllers",
	"assumption": "usher assumes that the user may be an operator that usher.yaml does not list",
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

test_so_do_operators_that_usher_yaml_lists if {
	check.deny == set() with input as examples.good_pod_of_an_operator
}

test_any_other_kind_of_owner_is_a_warning if {
	check.deny == assumed("ConfigMap") with input as examples.bad_job_of_a_config_map
	volcano := json.patch(examples.bad_pod_by_service_account, [
		{"op": "replace", "path": "/workload/claimedOwner/group", "value": "batch.volcano.sh"},
	])
	check.deny == assumed("Job") with input as volcano
}

test_without_an_owner_there_is_nothing_to_forge if {
	check.deny == set() with input as json.remove(examples.bad_pod, ["/workload/claimedOwner"])
}

test_an_update_may_keep_its_owner_and_add_none if {
	check.deny == found("Job") with input as examples.bad_owner_added_later
	kept := json.patch(examples.bad_owner_added_later, [
		{"op": "add", "path": "/old/claimedOwner", "value": {"group": "batch", "kind": "Job"}},
	])
	check.deny == set() with input as kept
}

test_in_ci_nobody_asks if {
	check.deny == set() with input as json.remove(examples.bad_pod, ["/review"])
}
