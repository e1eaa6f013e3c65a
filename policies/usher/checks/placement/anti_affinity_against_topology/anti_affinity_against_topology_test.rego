package usher.checks.placement.anti_affinity_against_topology_test

import data.examples.checks.placement.anti_affinity_against_topology as examples
import data.usher.checks.placement.anti_affinity_against_topology as check

found(path, name, key, domain) := {
	"path": path,
	"message": $"{name} allows one pod per \"{key}\", but Kueue's annotation requires all pods in one \"{domain}\"",
	"remedy": "remove this term, or change its topologyKey to kubernetes.io/hostname",
	"assumption": "usher does not read the selector of the term, and assumes that it matches the pods of the job",
}

terms := "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution"

rack := "example.com/rack"

test_keeping_off_each_other_in_what_the_pods_share_is_found if {
	check.deny == {found($"/spec/template/spec/{terms}/1", "the pod", rack, rack)} with input as examples.bad_job
	check.deny == {found(
		$"/spec/pytorchReplicaSpecs/Worker/template/spec/{terms}/0",
		"Worker",
		"topology.kubernetes.io/zone",
		rack,
	)} with input as examples.bad_pytorchjob
	check.deny == {found(
		$"/spec/workerGroupSpecs/0/template/spec/{terms}/0",
		"gpu",
		rack,
		rack,
	)} with input as examples.bad_raycluster
}

test_keeping_off_each_others_hosts_is_good if {
	check.deny == set() with input as examples.good_job
}

test_a_preference_gives_way if {
	check.deny == set() with input as examples.good_jobset
}

test_one_pod_keeps_off_nobody if {
	check.deny == set() with input as examples.good_job_of_one_pod
}

test_every_pod_of_a_deployment_is_placed_by_itself if {
	check.deny == set() with input as examples.good_deployment
}
