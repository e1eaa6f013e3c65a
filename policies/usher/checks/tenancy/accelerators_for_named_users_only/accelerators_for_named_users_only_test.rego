package usher.checks.tenancy.accelerators_for_named_users_only_test

import data.examples.checks.tenancy.accelerators_for_named_users_only as examples
import data.usher.checks.tenancy.accelerators_for_named_users_only as check

found(identities) := {{
	"path": "",
	"message": $"accelerators of this namespace are only for the identities {identities}, but the user does not have one of them",
	"remedy": "ask for one of these identities, or remove the accelerators",
}}

test_users_without_an_identity_get_no_accelerators if {
	check.deny == found("researchers, pipelines") with input as examples.bad_job
	check.deny == found("researchers, pipelines") with input as examples.bad_deployment
	scheduler := json.patch(examples.bad_job, [{"op": "replace", "path": "/review/by", "value": ["schedulers"]}])
	check.deny == found("researchers, pipelines") with input as scheduler
	check.unknown == set() with input as examples.bad_job
}

test_a_wrapper_is_asked_for_what_it_wraps if {
	check.deny == found("researchers, pipelines") with input as examples.bad_appwrapper
}

test_users_with_one_do if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_by_pipeline
}

test_controllers_make_what_was_asked_at_its_owner if {
	controllers := json.patch(examples.bad_job, [{"op": "replace", "path": "/review/by", "value": ["controllers"]}])
	check.deny == set() with input as controllers
	check.deny == set() with input as examples.good_pod_of_a_job
}

test_elsewhere_everybody_may if {
	check.deny == set() with input as examples.good_without_a_list
	check.unknown == set() with input as json.remove(examples.good_without_a_list, ["/review"])
}

test_an_update_counts_where_it_asks_for_the_first_accelerator if {
	check.deny == found("researchers, pipelines") with input as examples.bad_update
	update := json.patch(examples.bad_job, [{"op": "replace", "path": "/review/operation", "value": "UPDATE"}])
	check.deny == set() with input as object.union(update, {"old": {"asksAccelerators": true}})
	check.deny == found("researchers, pipelines") with input as object.union(update, {"old": {"asksAccelerators": false}})
	deletion := json.patch(examples.bad_job, [{"op": "replace", "path": "/review/operation", "value": "DELETE"}])
	check.deny == set() with input as deletion
}

test_a_template_takes_nothing_by_itself if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"isTemplate": true}})
}

test_in_ci_nobody_knows_who_will_create_it if {
	check.deny == set() with input as examples.unknown_in_ci
	check.unknown == {{
		"path": "",
		"reason": "accelerators of this namespace are only for the identities researchers, pipelines, and usher does not know which user creates the object",
	}} with input as examples.unknown_in_ci
	check.unknown == set() with input as object.union(examples.unknown_in_ci, {"workload": {"owned": true}})
	check.unknown == set() with input as object.union(examples.unknown_in_ci, {"workload": {"isTemplate": true}})
}
