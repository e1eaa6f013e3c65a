package usher.checks.queueing.claim_that_pretends_a_pod_test

import data.examples.checks.queueing.claim_that_pretends_a_pod as examples
import data.usher.checks.queueing.claim_that_pretends_a_pod as check

finding := {
	"path": "/metadata/annotations/resource.kubernetes.io~1extended-resource-claim",
	"message": "the claim has the annotation resource.kubernetes.io/extended-resource-claim, which only the scheduler sets, so no quota counts its devices",
	"remedy": "remove the annotation",
}

test_a_forged_claim_is_found if {
	check.deny == {finding} with input as examples.bad_user
	check.deny == {finding} with input as examples.bad_service_account
}

test_it_is_found_in_a_file if {
	check.deny == {finding} with input as examples.bad_file
}

test_the_scheduler_makes_such_claims if {
	check.deny == set() with input as examples.good_scheduler
}

test_other_claims_are_good if {
	check.deny == set() with input as examples.good_claim
	check.deny == set() with input as examples.good_claim_of_a_template
}

test_a_claim_that_has_the_annotation_may_change if {
	old := {"old": {"object": {"resourceClaim": {"metadata": {"annotations": {"resource.kubernetes.io/extended-resource-claim": "true"}}}}}}
	check.deny == set() with input as object.union(examples.bad_user, old)
}

test_usher_yaml_says_who_may if {
	check.deny == set() with input as object.union(examples.bad_user, {"review": {"by": ["drivers"]}})
		with data.usher.lib.parameters.queueing.claim_that_pretends_a_pod.identities as ["drivers"]
}
