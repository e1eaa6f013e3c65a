package usher.checks.queueing.topology_by_kueue_and_volcano_test

import data.examples.checks.queueing.topology_by_kueue_and_volcano as examples
import data.usher.checks.queueing.topology_by_kueue_and_volcano as check

found(path, name, annotation, scheduler) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1podset-{annotation}",
	"message": $"{name}: kueue.x-k8s.io/podset-{annotation} makes Kueue choose the nodes, but schedulerName {scheduler} makes Volcano choose them too",
	"remedy": "remove the annotation or the schedulerName",
}

test_both_on_one_template_are_found if {
	path := "/spec/pytorchReplicaSpecs/Worker/template/metadata"
	check.deny == {found(path, "Worker", "required-topology", "volcano-gpu")} with input as examples.bad_pytorchjob
	check.deny == {found(
		"/spec/template/metadata",
		"the pod",
		"preferred-topology",
		"volcano",
	)} with input as examples.bad_job
}

test_every_annotation_that_asks_for_a_placement_is_told if {
	path := "/spec/replicatedJobs/0/template/spec/template/metadata"
	check.deny == {
		found(path, "workers", "unconstrained-topology", "volcano"),
		found(path, "workers", "slice-required-topology", "volcano"),
	} with input as examples.bad_jobset
}

test_another_scheduler_places_what_kueue_chose if {
	check.deny == set() with input as examples.good_jobset
}

test_the_topology_of_volcano_alone_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_topology_of_volcano_beside_is_for_another_check if {
	every place in ["/podSets/0/annotations", "/workload/annotations", "/workload/labels"] {
		check.deny == set() with input as json.patch(examples.bad_job, [{
			"op": "add",
			"path": $"{place}/volcano.sh~1network-topology-mode",
			"value": "hard",
		}])
	}
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}
