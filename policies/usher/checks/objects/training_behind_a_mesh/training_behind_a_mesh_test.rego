package usher.checks.objects.training_behind_a_mesh_test

import data.examples.checks.objects.training_behind_a_mesh as examples
import data.usher.checks.objects.training_behind_a_mesh as check

found(path, name, label) := {
	"path": path,
	"message": $`{name} trains in a namespace with the label "{label}", so each pod gets the sidecar of Istio between the ranks`,
	"remedy": `set the label sidecar.istio.io/inject: "false" on the pod template`,
}

test_ranks_with_a_sidecar_are_found if {
	check.deny == {
		found("/spec/pytorchReplicaSpecs/Master/template/metadata/labels", "Master", "istio-injection=enabled"),
		found("/spec/pytorchReplicaSpecs/Worker/template/metadata/labels", "Worker", "istio-injection=enabled"),
	} with input as examples.bad_pytorchjob
	check.deny == {found("/spec/template/metadata/labels", "the pod", "istio.io/rev=stable")} with input as examples.bad_job
	check.deny == {found("/spec/pytorchReplicaSpecs/Worker/template/metadata/labels", "Worker", "istio-injection=enabled")} with input as examples.bad_worker
}

test_pods_without_a_sidecar_are_good if {
	check.deny == set() with input as examples.good_label
	check.deny == set() with input as examples.good_annotation
	check.deny == set() with input as examples.good_host_network
}

test_other_namespaces_are_good if {
	check.deny == set() with input as examples.good_namespace
}

test_one_pod_has_no_other_rank if {
	check.deny == set() with input as examples.good_one_pod
}

test_pods_that_a_controller_made_are_left_to_their_owner if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}

test_servers_may_have_a_sidecar if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"role": "inference"}})
}
