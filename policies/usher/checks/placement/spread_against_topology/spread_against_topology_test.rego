package usher.checks.placement.spread_against_topology_test

import data.examples.checks.placement.spread_against_topology as examples
import data.usher.checks.placement.spread_against_topology as check

found(path, name, key, domain) := {
	"path": path,
	"message": $"{name} must spread over \"{key}\", but Kueue's annotation requires all pods in one \"{domain}\"",
	"remedy": "remove this constraint, or the annotation kueue.x-k8s.io/podset-required-topology",
}

rack := "example.com/rack"

test_spreading_over_what_the_pods_share_is_found if {
	check.deny == {found(
		"/spec/template/spec/topologySpreadConstraints/1",
		"the pod",
		rack,
		rack,
	)} with input as examples.bad_job
	check.deny == {found(
		"/spec/workerGroupSpecs/0/template/spec/topologySpreadConstraints/0",
		"gpu",
		rack,
		"kubernetes.io/hostname",
	)} with input as examples.bad_raycluster
}

test_that_a_rack_lies_in_one_zone_is_assumed if {
	zone := "topology.kubernetes.io/zone"
	check.deny == {object.union(
		found(
			"/spec/pytorchReplicaSpecs/Worker/template/spec/topologySpreadConstraints/0",
			"Worker",
			zone,
			rack,
		),
		{"assumption": "usher assumes that each domain of example.com/rack lies inside one domain of topology.kubernetes.io/zone"},
	)} with input as examples.bad_pytorchjob
}

test_spreading_over_the_hosts_of_a_rack_is_good if {
	check.deny == set() with input as examples.good_job
}

test_a_wish_that_gives_way_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_as_many_pods_as_the_skew_allows_may_share_a_rack if {
	check.deny == set() with input as examples.good_pytorchjob_of_two
	three := json.patch(examples.good_pytorchjob_of_two, [{"op": "replace", "path": "/podSets/0/pods/maximum", "value": 3}])
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/topologySpreadConstraints/0",
		"Worker",
		rack,
		rack,
	)} with input as three
}

test_without_a_skew_it_is_one if {
	one := json.patch(examples.bad_job, [
		{"op": "replace", "path": "/podSets/0/pods/maximum", "value": 1},
		{"op": "remove", "path": "/podSets/0/topologySpreadConstraints/1/maxSkew"},
	])
	check.deny == set() with input as one
}

test_every_pod_of_a_deployment_is_placed_by_itself if {
	check.deny == set() with input as examples.good_deployment
}

test_pods_without_accelerators_are_left_alone if {
	check.deny == set() with input as examples.good_cpu_job
}
