package usher.checks.queueing.queue_name_as_annotation_test

import data.examples.checks.queueing.queue_name_as_annotation as examples
import data.usher.checks.queueing.queue_name_as_annotation as check

found(path, queue, remedy) := {
	"path": $"{path}/annotations/kueue.x-k8s.io~1queue-name",
	"message": $"the annotation kueue.x-k8s.io/queue-name {queue} does not queue the workload, because Kueue reads only the label of this name",
	"remedy": remedy,
}

test_it_is_found_on_the_object_and_on_every_template if {
	check.deny == {
		found("/metadata", `"research"`, "move it to metadata.labels"),
		found("/spec/pytorchReplicaSpecs/Master/template/metadata", `"research-queue"`, "move it to metadata.labels"),
	} with input as examples.bad_pytorchjob
}

test_a_pod_has_it_once if {
	check.deny == {found("/metadata", `"research"`, "move it to metadata.labels")} with input as examples.bad_pod
}

test_it_moves_to_where_kueue_reads_the_label_of_the_kind if {
	check.deny == {found(
		"/spec/jobTemplate/spec/template/metadata",
		`"research"`,
		"move it to spec.jobTemplate.metadata.labels",
	)} with input as examples.bad_cronjob
}

test_a_kind_that_kueue_does_not_know_has_no_place_for_it if {
	check.deny == {found(
		"/metadata",
		`"research"`,
		"remove it, or use a kind that Kueue queues",
	)} with input as examples.bad_volcano_job
}

test_beside_the_label_it_does_no_harm if {
	check.deny == set() with input as examples.good_jobset
}

test_other_annotations_of_kueue_are_read if {
	check.deny == set() with input as examples.good_job
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as examples.good_pod_of_a_pytorchjob
}
