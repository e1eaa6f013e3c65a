package usher.checks.queueing.resource_not_in_queue_test

import data.examples.checks.queueing.resource_not_in_queue as examples
import data.usher.checks.queueing.resource_not_in_queue as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

of_pytorchjob := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits"

elsewhere := "use a queue whose ClusterQueue covers the resource, or have the resource added there"

found(path, resource, kind, remedy) := {
	"path": path,
	"message": $`ClusterQueue research-queue has no quota for "{resource}", so it can never admit this {kind}`,
	"remedy": remedy,
}

test_every_resource_without_quota_is_found_where_it_is_asked_for if {
	remedy := "use queue whole, which could admit it"
	check.deny == {
		found($"{of_pytorchjob}/cpu", "cpu", "PyTorchJob", remedy),
		found($"{of_pytorchjob}/memory", "memory", "PyTorchJob", remedy),
	} with input as examples.bad_pytorchjob
	cpu := "/spec/template/spec/containers/0/resources/limits/cpu"
	check.deny == {found(cpu, "cpu", "Job", remedy)} with input as examples.bad_job
}

test_where_no_queue_of_the_namespace_covers_it_none_is_named if {
	path := "/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb"
	check.deny == {found(path, "nvidia.com/mig-1g.10gb", "Pod", elsewhere)} with input as examples.bad_pod
}

test_what_no_container_asks_for_is_found_at_the_queue if {
	document := json.remove(examples.bad_pod, ["/cluster/kueue/queue/clusterQueue/verdict/uncovered/0/path"])
	check.deny == {found(label, "nvidia.com/mig-1g.10gb", "Pod", elsewhere)} with input as document
}

test_without_the_configuration_of_kueue_it_is_assumed if {
	document := json.patch(
		examples.bad_pod,
		[{"op": "replace", "path": "/cluster/kueue/configurationKnown", "value": false}],
	)
	some finding in check.deny with input as document
	finding.assumption == "usher assumes that Kueue counts resources by its defaults, because it does not know the ConfigMap kueue-system/kueue-manager-config"
}

test_resources_that_the_queue_covers_are_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_pod_in_a_whole_queue
}
