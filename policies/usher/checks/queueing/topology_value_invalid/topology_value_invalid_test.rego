package usher.checks.queueing.topology_value_invalid_test

import data.examples.checks.queueing.topology_value_invalid as examples
import data.usher.checks.queueing.topology_value_invalid as check

found(path, name, annotation, value, expected) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{annotation}",
	"message": $"{name}: kueue.x-k8s.io/podset-{annotation} {value} is not {expected}, so Kueue refuses it",
	"remedy": $"set it to {expected}",
}

of_label := "the key of a node label"

of_name := "a name with a letter in it"

of_levels := "a JSON array of one to three levels"

valued(document, annotation, value) := json.patch(document, [{
	"op": "add",
	"path": $"/podSets/0/annotations/kueue.x-k8s.io~1podset-{annotation}",
	"value": value,
}])

test_a_level_that_is_no_label_key_is_found if {
	check.deny == {found(
		"/spec/template/metadata",
		"the pod",
		"required-topology",
		`"topology rack"`,
		of_label,
	)} with input as examples.bad_job
	check.deny == {found(
		"/spec/template/metadata",
		"the pod",
		"preferred-topology",
		`""`,
		of_label,
	)} with input as examples.bad_statefulset
}

test_everything_that_is_wrong_is_told if {
	path := "/spec/replicatedJobs/0/template/spec/template/metadata"
	check.deny == {
		found(path, "workers", "unconstrained-topology", `"yes"`, "true or false"),
		found(path, "workers", "slice-required-topology", `"/topology-rack"`, of_label),
		found(path, "workers", "group-name", `"7"`, of_name),
	} with input as examples.bad_jobset
}

test_constraints_that_are_no_array_of_levels_are_found if {
	annotation := "slice-required-topology-constraints"
	every value in ["rack", "true", `{"size": 4}`, "[]", "[1, 2, 3, 4]"] {
		check.deny == {found(
			"/metadata",
			"the pod",
			annotation,
			json.marshal(value),
			of_levels,
		)} with input as valued(examples.good_pod, annotation, value)
	}
	every value in ["[1]", "[1, 2, 3]"] {
		check.deny == set() with input as valued(examples.good_pod, annotation, value)
	}
}

test_label_keys_are_good if {
	check.deny == set() with input as examples.good_pod
	every key in ["Rack", "a", "example.com/A_b.c-9", "0"] {
		check.deny == set() with input as valued(examples.good_pod, "required-topology", key)
	}
}

test_what_is_no_label_key_is_not if {
	every key in ["a/b/c", "Example.com/rack", "/rack", "example.com/", "-a", "a-", "_a", "a.", "a$b", "[1]"] {
		count(check.deny) == 1 with input as valued(examples.good_pod, "required-topology", key)
	}
}

test_the_name_of_a_label_has_at_most_63_characters if {
	longest := concat("", ["a" | some _ in numbers.range(1, 63)])
	check.deny == set() with input as valued(examples.good_pod, "required-topology", $"example.com/{longest}")
	count(check.deny) == 1 with input as valued(examples.good_pod, "required-topology", $"example.com/{longest}a")
	count(check.deny) == 1 with input as valued(examples.good_pod, "required-topology", $"{longest}a")
}

test_words_for_true_and_false_are_good if {
	check.deny == set() with input as examples.good_mpijob
	every flag in ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"] {
		check.deny == set() with input as valued(examples.good_pod, "unconstrained-topology", flag)
	}
}

test_names_of_groups_are_no_numbers if {
	every number in ["0", "1", "42"] {
		count(check.deny) == 1 with input as valued(examples.good_pod, "group-name", number)
	}
	every name in ["ring", "7th", ""] {
		check.deny == set() with input as valued(examples.good_pod, "group-name", name)
	}
}
