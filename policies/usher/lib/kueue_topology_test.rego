package usher.lib.kueue_topology_test

import data.examples.checks.queueing.topology_annotations_refused as examples
import data.usher.lib.kueue_topology

# Texts of the reasons of a template, by default of the first.
texts := texts_of(0)

texts_of(index) := {text | some [_, _, text, _] in kueue_topology.reasons[index]}

annotated(document, annotation, value) := json.patch(document, [{
	"op": "add",
	"path": $"/podSets/0/annotations/kueue.x-k8s.io~1podset-{annotation}",
	"value": value,
}])

test_placements_exclude_each_other if {
	three := "podset-required-topology and podset-preferred-topology and podset-unconstrained-topology"
	texts == {$"{three} exclude each other"} with input as examples.bad_three_placements
	kueue_topology.reasons == {} with input as examples.good_placement_of_each_template
}

test_slices_are_described_in_one_way if {
	others := "podset-slice-required-topology and podset-slice-size"
	reason := {$"podset-slice-required-topology-constraints excludes {others}"}
	texts == reason with input as examples.bad_two_kinds_of_slices
	kueue_topology.reasons == {} with input as examples.good_slices
}

test_a_group_has_no_slices if {
	reason := "podset-group-name excludes podset-slice-required-topology"
	kueue_topology.reasons == {1: {[
		2,
		"kueue.x-k8s.io/podset-group-name",
		$"{reason} and podset-slice-size",
		"keep podset-group-name or podset-slice-required-topology and podset-slice-size, not both",
	]}} with input as examples.bad_slices_of_a_group
	constrained := annotated(examples.good_group, "slice-required-topology-constraints", "[1]")
	texts == {$"{reason}-constraints"} with input as constrained
}

test_a_topology_and_a_size_need_each_other if {
	texts == {"podset-slice-required-topology needs podset-slice-size"} with input as examples.bad_topology_without_size
	texts == {"podset-slice-size needs podset-slice-required-topology"} with input as examples.bad_size_without_topology
	kueue_topology.reasons == {} with input as examples.good_slices_of_pytorchjob
}

test_half_a_slice_beside_constraints_is_only_excluded if {
	constrained := annotated(examples.bad_topology_without_size, "slice-required-topology-constraints", "[1]")
	reason := "podset-slice-required-topology-constraints excludes podset-slice-required-topology"
	texts == {reason} with input as constrained
}

test_a_size_is_a_whole_number_of_at_least_one if {
	every size in ["", "half", "0", "-4", "2.5", "1234567890"] {
		reason := $"podset-slice-size {json.marshal(size)} is not a whole number of at least 1"
		texts == {reason} with input as annotated(examples.bad_size_in_words, "slice-size", size)
	}
	kueue_topology.reasons == {} with input as annotated(examples.bad_size_in_words, "slice-size", "1")
}

test_a_slice_has_no_more_pods_than_the_template if {
	texts == {"slices have 8 pods, but there are at most 4 pods"} with input as examples.bad_slice_of_too_many
	long := annotated(examples.bad_size_in_words, "slice-size", "123456789")
	texts == {"slices have 123456789 pods, but there are at most 8 pods"} with input as long
	kueue_topology.reasons == {} with input as examples.good_slice_of_all_pods
	unbounded := json.remove(examples.bad_slice_of_too_many, ["/podSets/0/pods/maximum"])
	kueue_topology.reasons == {} with input as unbounded
}

test_a_pod_may_be_one_of_a_slice_and_of_a_group if {
	kueue_topology.reasons == {} with input as examples.good_pod_of_a_slice
	kueue_topology.reasons == {} with input as examples.good_pod_of_a_group
}

test_a_group_has_two_templates if {
	texts == {`pod set group "ring" consists of Worker, not of exactly 2 pod sets`} with input as examples.bad_group_of_one
	three := `pod set group "ring" consists of head and fast and slow, not of exactly 2 pod sets`
	texts == {three} with input as examples.bad_group_of_three
	kueue_topology.reasons == {} with input as examples.good_group_of_jobset
	kueue_topology.reasons == {} with input as examples.good_two_groups
}

test_one_template_of_a_group_has_a_single_pod if {
	reason := `neither parameter-servers nor workers of pod set group "pair" has a single pod`
	texts == {reason} with input as examples.bad_group_without_leader
	kueue_topology.reasons == {} with input as examples.good_group_of_each_replica
}

test_a_group_has_a_level if {
	reason := `pod set group "ring" has neither podset-required-topology nor podset-preferred-topology`
	texts == {reason} with input as examples.bad_group_without_level
	texts_of(1) == {reason} with input as examples.bad_group_without_level
	texts == {reason} with input as examples.bad_pod_of_a_group
}

test_both_templates_of_a_group_have_the_same_level if {
	reason := `leader of pod set group "ring" has another topology level`
	texts_of(1) == {reason} with input as examples.bad_group_of_two_levels
	texts_of(1) == {reason} with input as examples.bad_group_of_two_kinds
	not kueue_topology.reasons[0] with input as examples.bad_group_of_two_kinds
}

test_half_a_group_without_a_level_is_reported_once if {
	every half in [0, 1] {
		path := $"/podSets/{half}/annotations/kueue.x-k8s.io~1podset-required-topology"
		without := json.remove(examples.bad_group_of_two_levels, [path])
		object.keys(kueue_topology.reasons) == {half} with input as without
	}
}

test_groups_of_other_kinds_are_not_compared if {
	elsewhere := object.union(examples.bad_group_of_two_kinds, {"workload": {"kind": "PyTorchJob"}})
	kueue_topology.reasons == {} with input as elsewhere
}

test_topologies_name_a_label if {
	every key in ["Rack", "a", "example.com/A_b.c-9", "0", longest, $"example.com/{longest}"] {
		kueue_topology.reasons == {} with input as annotated(examples.good_levels, "required-topology", key)
	}
	every key in ["", "a/b/c", "Example.com/rack", "/rack", "example.com/", "-a", "a-", "_a", "a.", "a$b", "[1]"] {
		reason := $"podset-required-topology {json.marshal(key)} is not the key of a node label"
		texts == {reason} with input as annotated(examples.good_levels, "required-topology", key)
	}
	every key in [$"{longest}a", $"example.com/{longest}a"] {
		count(texts) == 1 with input as annotated(examples.good_levels, "required-topology", key)
	}
	texts == {`podset-preferred-topology "" is not the key of a node label`} with input as examples.bad_empty_level
}

longest := concat("", ["a" | some _ in numbers.range(1, 63)])

test_unconstrained_is_true_or_false if {
	kueue_topology.reasons == {} with input as examples.good_values
	flagged := json.remove(examples.good_levels, ["/podSets/0/annotations/kueue.x-k8s.io~1podset-required-topology"])
	every flag in ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"] {
		kueue_topology.reasons == {} with input as annotated(flagged, "unconstrained-topology", flag)
	}
	reason := `podset-unconstrained-topology "yes" is not true or false`
	texts == {reason} with input as annotated(flagged, "unconstrained-topology", "yes")
}

test_constraints_are_one_to_three_levels if {
	annotation := "slice-required-topology-constraints"
	only := json.remove(examples.good_levels, [
		"/podSets/0/annotations/kueue.x-k8s.io~1podset-slice-required-topology",
		"/podSets/0/annotations/kueue.x-k8s.io~1podset-slice-size",
	])
	every value in ["rack", "true", `{"size": 4}`, "[]", "[1, 2, 3, 4]"] {
		reason := $"podset-{annotation} {json.marshal(value)} is not a JSON array of one to three levels"
		texts == {reason} with input as annotated(only, annotation, value)
	}
	every value in ["[1]", "[1, 2, 3]"] {
		kueue_topology.reasons == {} with input as annotated(only, annotation, value)
	}
}

test_names_of_groups_are_no_numbers if {
	every number in ["0", "1", "42"] {
		reason := $"podset-group-name {json.marshal(number)} is not a name with a letter in it"
		texts[reason] with input as annotated(examples.good_pod_of_a_group, "group-name", number)
	}
	every name in ["ring", "7th", ""] {
		kueue_topology.reasons == {} with input as annotated(examples.good_pod_of_a_group, "group-name", name)
	}
}
