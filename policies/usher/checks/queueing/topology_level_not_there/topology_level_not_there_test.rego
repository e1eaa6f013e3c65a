package usher.checks.queueing.topology_level_not_there_test

import data.examples.checks.queueing.topology_level_not_there as examples
import data.usher.checks.queueing.topology_level_not_there as check

found(path, annotation, pods, level, kind) := {{
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{annotation}",
	"message": $`{pods}: the Topology of flavor racks has no level "{level}", so ClusterQueue research-queue never admits this {kind}`,
	"remedy": "name one of its levels: cloud.provider.com/topology-block, cloud.provider.com/topology-rack",
}}

test_a_level_that_the_topology_lacks_is_found if {
	check.deny == found(
		"/spec/template/metadata",
		"required-topology",
		"the pod",
		"kubernetes.io/hostname",
		"Job",
	) with input as examples.bad_job
	check.deny == found("/metadata", "required-topology", "the pod", "rack", "Pod") with input as examples.bad_pod
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/metadata",
		"preferred-topology",
		"Worker",
		"cloud.provider.com/topology-pod",
		"PyTorchJob",
	) with input as examples.bad_pytorchjob
}

test_a_level_that_is_there_is_good if {
	check.deny == set() with input as examples.good_job
}

test_pods_that_ask_for_no_topology_are_good if {
	check.deny == set() with input as examples.good_pod
}
