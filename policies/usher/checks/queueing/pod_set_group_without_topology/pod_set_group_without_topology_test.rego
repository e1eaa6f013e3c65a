package usher.checks.queueing.pod_set_group_without_topology_test

import data.examples.checks.queueing.pod_set_group_without_topology as examples
import data.usher.checks.queueing.pod_set_group_without_topology as check

without(path, name) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-group-name",
	"message": $`{name} is in pod set group "ring", but has neither kueue.x-k8s.io/podset-required-topology nor kueue.x-k8s.io/podset-preferred-topology, so Kueue refuses it`,
	"remedy": "name the level that the group requires or prefers",
}

differing(path, names, level) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{level}-topology",
	"message": $`{names} of pod set group "ring" differ in kueue.x-k8s.io/podset-{level}-topology, so Kueue refuses them`,
	"remedy": "name the same level on both",
}

test_a_group_without_a_level_is_found if {
	check.deny == {
		without("/spec/mpiReplicaSpecs/Launcher/template/metadata", "Launcher"),
		without("/spec/mpiReplicaSpecs/Worker/template/metadata", "Worker"),
	} with input as examples.bad_mpijob
	check.deny == {without("/metadata", "the pod")} with input as examples.bad_pod
}

test_two_levels_of_one_kind_differ if {
	path := "/spec/leaderWorkerTemplate/workerTemplate/metadata"
	check.deny == {differing(path, "worker and leader", "required")} with input as examples.bad_leaderworkerset
}

test_levels_of_two_kinds_differ if {
	path := "/spec/replicatedJobs/1/template/spec/template/metadata"
	check.deny == {
		differing(path, "workers and leader", "required"),
		differing(path, "workers and leader", "preferred"),
	} with input as examples.bad_jobset
}

test_one_level_for_both_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_groups_of_their_own_may_differ if {
	check.deny == set() with input as examples.good_jobset_of_two_groups
}

test_a_kind_whose_groups_nobody_looks_at_is_left_alone if {
	elsewhere := object.union(examples.bad_jobset, {"workload": {"kind": "PyTorchJob"}})
	check.deny == set() with input as elsewhere
}

test_half_a_group_without_a_level_is_told_once if {
	half := json.remove(
		examples.bad_leaderworkerset,
		["/podSets/0/annotations/kueue.x-k8s.io~1podset-required-topology"],
	)
	path := "/spec/leaderWorkerTemplate/leaderTemplate/metadata"
	check.deny == {without(path, "leader")} with input as half
	other_half := json.remove(
		examples.bad_leaderworkerset,
		["/podSets/1/annotations/kueue.x-k8s.io~1podset-required-topology"],
	)
	check.deny == {without(
		"/spec/leaderWorkerTemplate/workerTemplate/metadata",
		"worker",
	)} with input as other_half
}
