package usher.mutations.fabric.network_attachments_test

import data.examples.mutations.fabric.network_attachments as examples
import data.usher.mutations.fabric.network_attachments as mutation

workers := "/spec/pytorchReplicaSpecs/Worker/template"

reason := "fabric rails needs it, and the pod can run only on nodes with this fabric"

annotation(at) := {
	"at": at,
	"field": "annotation",
	"value": {"key": "networking.gke.io/default-interface", "value": "eth0"},
	"reason": reason,
}

network(at, index, name, namespace, definition) := {
	"at": at,
	"field": "network",
	"value": {"index": index, "name": name},
	"reason": reason,
	"needs": [{
		"group": "k8s.cni.cncf.io",
		"kind": "NetworkAttachmentDefinition",
		"namespace": namespace,
		"name": definition,
	}],
}

attached(at) := {
	annotation(at),
	network(at, 100, "rail-0", "ml-research", "rail-0"),
	network(at, 101, "fabric/rail-1@net2", "fabric", "rail-1"),
}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_training_pods_are_attached_to_the_networks_of_the_fabric_in_their_order if {
	mutation.intents == attached(workers) with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_pods_that_are_attached_to_others_already_are_as_well if {
	mutation.intents == attached("/spec/replicatedJobs/0/template/spec/template") with input as examples.before_jobset_attached_to_another
	mutation.intents == attached("/spec/rayClusterSpec/workerGroupSpecs/0/template") with input as examples.before_rayjob_attached_in_json
}

test_pods_on_the_network_of_their_node_have_no_other if {
	mutation.intents == {annotation(workers)} with input as examples.before_pytorchjob_on_the_node
	mutation.skips == skipped(workers, "it uses the network of its node, so Multus attaches no other network") with input as examples.before_pytorchjob_on_the_node
}

test_a_fabric_without_networks_attaches_nothing if {
	plain := json.patch(examples.before_pytorchjob, [
		{"op": "replace", "path": "/fabrics/rails/networks", "value": []},
		{"op": "replace", "path": "/fabrics/rails/annotations", "value": {}},
	])
	mutation.intents == set() with input as plain
	mutation.skips == skipped(workers, "fabric rails names no networks and no annotations") with input as plain
}

test_one_pod_and_what_does_not_train_are_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_of_one_pod
	mutation.skips == skipped("", "the workload has only one pod, which does not use the network between nodes") with input as examples.untouched_job_of_one_pod
	mutation.intents == set() with input as examples.untouched_service
	mutation.skips == skipped("", "the role of the workload is service, and only training and models that span pods get a fabric profile") with input as examples.untouched_service
}
