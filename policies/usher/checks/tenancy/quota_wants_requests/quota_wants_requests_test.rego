package usher.checks.tenancy.quota_wants_requests_test

import data.examples.checks.tenancy.quota_wants_requests as examples
import data.usher.checks.tenancy.quota_wants_requests as check

found(path, container, what) := {
	"path": path,
	"message": $"container {container} has no {what}, which ResourceQuota compute counts, so the API server refuses the pods",
	"remedy": $"set resources.{what} in the container",
}

test_a_container_that_says_nothing_is_found if {
	template := "/spec/template/spec/containers/0"
	check.deny == {
		found(template, "serve", "requests.cpu"),
		found(template, "serve", "limits.memory"),
	} with input as examples.bad_deployment
	worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"
	check.deny == {
		found(worker, "pytorch", "requests.cpu"),
		found(worker, "pytorch", "limits.memory"),
	} with input as examples.bad_pytorchjob
	check.unknown == set() with input as examples.bad_pytorchjob
}

test_init_containers_are_asked_too if {
	check.deny == {found("/spec/initContainers/0", "download", "requests.cpu")} with input as examples.bad_init_container
}

test_a_limit_stands_in_for_a_request if {
	check.deny == set() with input as examples.good_deployment
}

test_a_limit_range_gives_what_is_missing if {
	check.deny == set() with input as examples.good_deployment_with_defaults
}

assumed(path, container, what) := object.union(found(path, container, what), {
	"remedy": $"set resources.{what} in the container, or a default in a LimitRange of the namespace",
	"assumption": "usher assumes that no LimitRange of the namespace sets it",
})

test_without_limit_ranges_among_the_facts_it_only_warns if {
	document := object.union(examples.bad_init_container, {"cluster": {"resourceQuotas": {"defaultsKnown": false}}})
	check.deny == {assumed("/spec/initContainers/0", "download", "requests.cpu")} with input as document
	check.unknown == set() with input as document
}

test_what_a_limit_range_may_give_that_nobody_can_read_is_unknown if {
	check.deny == set() with input as examples.unknown_defaults
	check.unknown == {{
		"path": "/spec/template/spec/containers/0",
		"reason": "container serve has no requests.cpu, which ResourceQuota compute counts; usher cannot read a LimitRange of the namespace, which may set it",
	}} with input as examples.unknown_defaults
}

test_a_quota_that_nobody_can_read_is_not_taken_for_a_limit_range if {
	quotas := {
		"defaultsKnown": false,
		"unreadable": [{"of": "ResourceQuota compute", "field": "spec.hard", "reason": "expected an object"}],
	}
	document := object.union(examples.bad_init_container, {"cluster": {"resourceQuotas": quotas}})
	check.deny == {assumed("/spec/initContainers/0", "download", "requests.cpu")} with input as document
	check.unknown == set() with input as document
}
