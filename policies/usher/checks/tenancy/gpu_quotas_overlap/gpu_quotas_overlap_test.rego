package usher.checks.tenancy.gpu_quotas_overlap_test

import data.examples.checks.tenancy.gpu_quotas_overlap as examples
import data.usher.checks.tenancy.gpu_quotas_overlap as check

found(name, namespaces) := {
	"path": "/spec",
	"message": $"{name} also holds for {namespaces}, so neither quota counts there",
	"remedy": "change one of the two quotas so that it does not match these namespaces",
}

test_two_quotas_over_one_namespace_are_found if {
	check.deny == {found("GPUQuota research", "namespace research-nlp")} with input as examples.bad_by_name
	check.unknown == set() with input as examples.bad_by_name
}

test_labels_of_namespaces_decide_as_well if {
	namespaces := "namespaces research-nlp, research-vision"
	check.deny == {found("GPUQuota research", namespaces)} with input as examples.bad_by_label
}

test_entries_of_the_configuration_count if {
	check.deny == {found("quota serving of usher.yaml", "namespace serving-chat")} with input as examples.bad_beside_usher_yaml
}

test_a_quota_over_namespaces_of_its_own_is_good if {
	check.deny == set() with input as examples.good_quota
	check.unknown == set() with input as examples.good_quota
}

test_a_quota_that_is_changed_is_no_other if {
	check.deny == set() with input as examples.good_quota_itself
}

test_without_other_quotas_among_the_facts_it_is_unknown if {
	blind := json.patch(examples.good_quota, [{"op": "remove", "path": "/cluster/quotaObject/rivals"}])
	check.deny == set() with input as blind
	check.unknown == {{
		"path": "/spec",
		"reason": "usher does not know whether another quota holds for the same namespaces: the facts of the cluster lack GPUQuotas or namespaces",
	}} with input as blind
}

test_of_a_cluster_that_nobody_knows_nothing_is_said if {
	document := object.remove(examples.good_quota, ["cluster"])
	check.deny == set() with input as document
	check.unknown == set() with input as document
}
