package usher.checks.placement.several_topology_mechanisms_test

import data.examples.checks.placement.several_topology_mechanisms as examples
import data.usher.checks.placement.several_topology_mechanisms as check

found(path, ways) := {
	"path": path,
	"message": $"the job is kept together by {ways}, which can choose different places",
	"remedy": "keep only one of them",
}

test_kueue_and_volcano_choose_different_racks if {
	check.deny == {found(
		"/spec/template/metadata/annotations/volcano.sh~1network-topology-mode",
		"Kueue's topology annotation and by Volcano's network topology",
	)} with input as examples.bad_job
}

test_volcano_is_asked_by_a_label_or_an_annotation_of_the_object if {
	ways := "Kueue's topology annotation and by Volcano's network topology"
	check.deny == {found("/metadata/labels/volcano.sh~1network-topology-mode", ways)} with input as examples.bad_raycluster
	annotated := object.union(examples.bad_raycluster, {"workload": {"annotations": {"volcano.sh/network-topology-mode": "hard"}}})
	check.deny == {found(
		"/metadata/annotations/volcano.sh~1network-topology-mode",
		ways,
	)} with input as object.union(annotated, {"workload": {"labels": object.remove(
		annotated.workload.labels,
		["volcano.sh/network-topology-mode"],
	)}})
}

test_exclusive_placement_beside_kueue_is_found if {
	check.deny == {found(
		"/metadata/annotations/alpha.jobset.sigs.k8s.io~1exclusive-topology",
		"Kueue's topology annotation and by exclusive placement",
	)} with input as examples.bad_jobset
	check.deny == {found(
		"/metadata/annotations/leaderworkerset.sigs.k8s.io~1exclusive-topology",
		"Kueue's topology annotation and by exclusive placement",
	)} with input as examples.bad_leaderworkerset
}

test_pod_affinity_over_the_same_label_is_found if {
	path := "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0"
	check.deny == {found(
		$"/spec/pytorchReplicaSpecs/Worker/template/spec/{path}",
		"Kueue's topology annotation and by required pod affinity",
	)} with input as examples.bad_pytorchjob
	check.deny == {found(
		$"/spec/replicatedJobs/0/template/spec/template/spec/{path}",
		"exclusive placement and by required pod affinity",
	)} with input as examples.bad_jobset_with_affinity
}

test_one_mechanism_on_several_templates_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_pod_affinity_over_another_label_is_good if {
	check.deny == set() with input as examples.good_job
}

test_an_annotation_that_asks_for_nothing_does_not_count if {
	check.deny == set() with input as examples.good_raycluster
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as examples.good_pod_of_a_jobset
}
