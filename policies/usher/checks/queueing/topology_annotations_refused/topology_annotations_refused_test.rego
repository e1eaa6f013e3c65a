package usher.checks.queueing.topology_annotations_refused_test

import data.examples.checks.queueing.topology_annotations_refused as examples
import data.usher.checks.queueing.topology_annotations_refused as check

found(path, key, name, reasons, remedy) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{key}",
	"message": $"Kueue refuses the topology annotations of {name}: {reasons}",
	"remedy": remedy,
}

test_a_template_is_reported_once_with_its_reason if {
	check.deny == {found(
		"/spec/template/metadata",
		"required-topology",
		"the pod",
		"podset-required-topology and podset-preferred-topology exclude each other",
		"keep one of them",
	)} with input as examples.bad_two_placements
}

test_a_template_with_several_mistakes_is_reported_once_with_all_reasons if {
	check.deny == {found(
		"/spec/replicatedJobs/0/template/spec/template/metadata",
		"group-name",
		"workers",
		concat("; ", [
			`podset-group-name "7" is not a name with a letter in it`,
			`podset-slice-required-topology "/topology-rack" is not the key of a node label`,
			`podset-unconstrained-topology "yes" is not true or false`,
			"podset-group-name excludes podset-slice-required-topology and podset-slice-size",
			`pod set group "7" consists of workers, not of exactly 2 pod sets`,
			`pod set group "7" has neither podset-required-topology nor podset-preferred-topology`,
		]),
		concat("; ", [
			"set podset-group-name to a name with a letter in it",
			"set podset-slice-required-topology to the key of a node label",
			"set podset-unconstrained-topology to true or false",
			"keep podset-group-name or podset-slice-required-topology and podset-slice-size, not both",
			"name the group on the leader and its workers only",
			"name the level that the group requires or prefers",
		]),
	)} with input as examples.bad_values
}

path(index) := $"/spec/replicatedJobs/{index}/template/spec/template/metadata"

test_every_template_is_reported_by_itself if {
	check.deny == {
		found(
			path(0),
			"slice-required-topology",
			"driver",
			"podset-slice-required-topology needs podset-slice-size",
			"set podset-slice-size too, or remove podset-slice-required-topology",
		),
		found(
			path(1),
			"slice-size",
			"workers",
			"podset-slice-size needs podset-slice-required-topology",
			"set podset-slice-required-topology too, or remove podset-slice-size",
		),
	} with input as examples.bad_half_slices_of_two_templates
}

test_every_bad_example_is_found_and_no_good_one if {
	every name, document in examples {
		number := count(check.deny) with input as document
		_expected(name, number)
	}
}

_expected(name, number) if {
	startswith(name, "bad_")
	number > 0
}

_expected(name, 0) if startswith(name, "good_")

test_false_names_no_level if {
	check.deny == {{
		"path": "/spec/template/metadata/annotations/kueue.x-k8s.io~1podset-unconstrained-topology",
		"message": `podset-unconstrained-topology "false" asks for topology-aware scheduling and names no level, so Kueue never admits the pod`,
		"remedy": "remove the annotation, or set it to true",
		"assumption": "usher assumes a Kueue without the change of kueue#15262 (September 2026)",
	}} with input as examples.bad_unconstrained_false
}

test_false_beside_slices_of_a_level_is_good if {
	sliced := [
		{"op": "add", "path": "/podSets/0/annotations/kueue.x-k8s.io~1podset-slice-required-topology", "value": "example.com/rack"},
		{"op": "add", "path": "/podSets/0/annotations/kueue.x-k8s.io~1podset-slice-size", "value": "2"},
	]
	check.deny == set() with input as json.patch(examples.bad_unconstrained_false, sliced)
}

rest(path, message) := {{
	"path": $"{path}/metadata/annotations/kueue.x-k8s.io~1podset-slice-size",
	"message": message,
	"remedy": "set podset-slice-size to a divisor of the number of pods",
	"assumption": "usher assumes a Kueue that admits part of the pods (kueue#15277, September 2026)",
}}

test_pods_beside_whole_slices_are_found if {
	check.deny == rest(
		"/spec/template",
		"slices of 2 leave 1 of the 5 pods over, and Kueue never removes the scheduling gate of these",
	) with input as examples.bad_slices_with_a_rest
	check.deny == rest(
		"/spec/leaderWorkerTemplate/workerTemplate",
		"slices of 2 leave 1 of the 3 pods over, and Kueue never removes the scheduling gate of these",
	) with input as examples.bad_slices_of_workers_with_a_rest
}
