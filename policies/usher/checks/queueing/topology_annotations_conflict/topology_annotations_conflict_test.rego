package usher.checks.queueing.topology_annotations_conflict_test

import data.examples.checks.queueing.topology_annotations_conflict as examples
import data.usher.checks.queueing.topology_annotations_conflict as check

found(path, name, one, other) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{other}",
	"message": $"{name} has both kueue.x-k8s.io/podset-{one} and kueue.x-k8s.io/podset-{other}, which exclude each other, so Kueue refuses it",
	"remedy": "remove one of them",
}

test_two_kinds_of_placement_are_found if {
	check.deny == {found(
		"/spec/template/metadata",
		"the pod",
		"required-topology",
		"preferred-topology",
	)} with input as examples.bad_job
}

test_every_pair_of_three_is_found if {
	check.deny == {
		found("/metadata", "the pod", "required-topology", "preferred-topology"),
		found("/metadata", "the pod", "required-topology", "unconstrained-topology"),
		found("/metadata", "the pod", "preferred-topology", "unconstrained-topology"),
	} with input as examples.bad_pod
}

test_two_descriptions_of_slices_are_found if {
	path := "/spec/replicatedJobs/0/template/spec/template/metadata"
	constraints := "slice-required-topology-constraints"
	check.deny == {
		found(path, "workers", constraints, "slice-required-topology"),
		found(path, "workers", constraints, "slice-size"),
	} with input as examples.bad_jobset
}

test_slices_of_a_group_are_found if {
	path := "/spec/leaderWorkerTemplate/workerTemplate/metadata"
	check.deny == {
		found(path, "worker", "group-name", "slice-required-topology"),
		found(path, "worker", "group-name", "slice-size"),
	} with input as examples.bad_leaderworkerset
	constrained := json.patch(examples.good_leaderworkerset, [{
		"op": "add",
		"path": "/podSets/1/annotations/kueue.x-k8s.io~1podset-slice-required-topology-constraints",
		"value": "[]",
	}])
	check.deny == {found(
		path,
		"worker",
		"group-name",
		"slice-required-topology-constraints",
	)} with input as constrained
}

test_a_placement_with_slices_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_a_placement_with_a_group_is_good if {
	check.deny == set() with input as examples.good_leaderworkerset
}

test_a_placement_for_each_template_is_good if {
	check.deny == set() with input as examples.good_mpijob
}
