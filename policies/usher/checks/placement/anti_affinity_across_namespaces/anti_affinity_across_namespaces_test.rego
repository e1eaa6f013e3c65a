package usher.checks.placement.anti_affinity_across_namespaces_test

import data.examples.checks.placement.anti_affinity_across_namespaces as examples
import data.usher.checks.placement.anti_affinity_across_namespaces as check

_terms := "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution"

finding(path, name, domain) := {
	"path": $"{path}/{_terms}/0",
	"message": $"{name} keeps pods of other namespaces out of its {domain} by required anti-affinity",
	"remedy": "remove namespaceSelector and namespaces from the term",
}

assumption := {"assumption": "usher assumes that pods of other teams have the labels that the term selects"}

test_a_term_for_everybody_is_found if {
	check.deny == {finding("/spec", "the pod", `"topology.kubernetes.io/zone"`)} with input as examples.bad_pod
}

test_a_term_for_all_other_labels_is_found if {
	check.deny == {finding(
		"/spec/template/spec",
		"the pod",
		`"kubernetes.io/hostname"`,
	)} with input as examples.bad_deployment
}

test_a_term_for_certain_labels_is_a_matter_of_other_teams if {
	found := finding(
		"/spec/pytorchReplicaSpecs/Worker/template/spec",
		"Worker",
		`"kubernetes.io/hostname"`,
	)
	check.deny == {object.union(found, assumption)} with input as examples.bad_pytorchjob
	check.deny == {object.union(found, assumption)} with input as selecting("Exists")
	check.deny == {object.union(found, assumption)} with input as selecting("In")
	check.deny == {found} with input as selecting("DoesNotExist")
	check.deny == {found} with input as json.patch(
		examples.bad_pytorchjob,
		[{"op": "replace", "path": $"/podSets/0/{_terms}/0/labelSelector", "value": {"matchLabels": {}}}],
	)
}

selecting(operator) := json.patch(
	examples.bad_pytorchjob,
	[{
		"op": "replace",
		"path": $"/podSets/0/{_terms}/0/labelSelector",
		"value": {"matchExpressions": [{"key": "app", "operator": operator}]},
	}],
)

test_a_term_without_a_key_is_found_too if {
	check.deny == {finding("/spec", "the pod", "domain")} with input as json.patch(
		examples.bad_pod,
		[{"op": "remove", "path": $"/podSets/0/{_terms}/0/topologyKey"}],
	)
}

test_terms_for_the_own_namespace_and_preferred_ones_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_the_racks_of_jobset_are_good if {
	check.deny == set() with input as examples.good_pod_of_jobset
	other := json.patch(
		examples.good_pod_of_jobset,
		[{
			"op": "replace",
			"path": $"/podSets/0/{_terms}/0/labelSelector/matchExpressions/0/operator",
			"value": "NotIn",
		}],
	)
	count(check.deny) == 1 with input as other
}

test_system_namespaces_may_keep_others_away if {
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"systemNamespace": true}})
}
