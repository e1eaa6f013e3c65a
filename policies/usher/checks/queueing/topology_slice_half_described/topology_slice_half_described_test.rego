package usher.checks.queueing.topology_slice_half_described_test

import data.examples.checks.queueing.topology_slice_half_described as examples
import data.usher.checks.queueing.topology_slice_half_described as check

found(path, name, present, missing) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{present}",
	"message": $"{name} has kueue.x-k8s.io/podset-{present} without kueue.x-k8s.io/podset-{missing}, so Kueue refuses it",
	"remedy": $"set kueue.x-k8s.io/podset-{missing} too, or remove kueue.x-k8s.io/podset-{present}",
}

test_a_topology_without_a_size_is_found if {
	check.deny == {found(
		"/spec/template/metadata",
		"the pod",
		"slice-required-topology",
		"slice-size",
	)} with input as examples.bad_job
}

test_a_size_without_a_topology_is_found if {
	check.deny == {found("/metadata", "the pod", "slice-size", "slice-required-topology")} with input as examples.bad_pod
}

test_every_template_is_told_by_itself if {
	check.deny == {
		found(
			"/spec/replicatedJobs/0/template/spec/template/metadata",
			"driver",
			"slice-required-topology",
			"slice-size",
		),
		found(
			"/spec/replicatedJobs/1/template/spec/template/metadata",
			"workers",
			"slice-size",
			"slice-required-topology",
		),
	} with input as examples.bad_jobset
}

test_both_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_neither_is_good if {
	check.deny == set() with input as examples.good_job
}

test_beside_constraints_it_is_for_another_check if {
	constrained := json.patch(examples.bad_job, [{
		"op": "add",
		"path": "/podSets/0/annotations/kueue.x-k8s.io~1podset-slice-required-topology-constraints",
		"value": "[]",
	}])
	check.deny == set() with input as constrained
}
