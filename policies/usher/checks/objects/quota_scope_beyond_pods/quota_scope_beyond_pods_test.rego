package usher.checks.objects.quota_scope_beyond_pods_test

import data.examples.checks.objects.quota_scope_beyond_pods as examples
import data.usher.checks.objects.quota_scope_beyond_pods as check

found(name, scope) := {
	"path": $"/spec/hard/{name}",
	"message": $"a quota with scope {scope} cannot count {name}, so the API server refuses the whole quota",
	"remedy": $"move {name} into a quota without scopes",
}

test_claims_have_no_priority_class if {
	check.deny == {found("persistentvolumeclaims", "PriorityClass")} with input as examples.bad_priority_class
}

test_nothing_else_that_is_no_pod_has_a_scope if {
	check.deny == {
		found("requests.storage", "NotTerminating"),
		found("requests.hugepages-2Mi", "NotTerminating"),
		found("services", "NotTerminating"),
	} with input as examples.bad_scopes
}

test_best_effort_has_no_cpu_and_of_several_scopes_one_is_named if {
	check.deny == {found("requests.cpu", "BestEffort")} with input as examples.bad_best_effort
}

test_pods_and_what_they_ask_for_are_good if {
	check.deny == set() with input as examples.good_priority_class
}

test_without_a_scope_everything_is_counted if {
	check.deny == set() with input as examples.good_without_a_scope
}

test_every_scope_of_pods_refuses_claims if {
	every scope in ["CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass", "Terminating"] {
		scoped := json.patch(examples.bad_scopes, [{
			"op": "replace",
			"path": "/object/resourceQuota/spec",
			"value": {"scopes": [scope], "hard": {"persistentvolumeclaims": {}, "pods": {}, "limits.cpu": {}}},
		}])
		check.deny == {found("persistentvolumeclaims", scope)} with input as scoped
	}
}

test_a_scope_of_claims_counts_claims if {
	check.deny == set() with input as examples.good_volume_attributes
	listed := json.patch(examples.good_volume_attributes, [
		{"op": "add", "path": "/object/resourceQuota/spec/scopes", "value": ["VolumeAttributesClass"]},
	])
	check.deny == set() with input as listed
}
