package usher.checks.queueing.queue_label_on_pod_template_test

import data.examples.checks.queueing.queue_label_on_pod_template as examples
import data.usher.checks.queueing.queue_label_on_pod_template as check

found(path, name, queue, kind) := {
	"path": $"{path}/metadata/labels/kueue.x-k8s.io~1queue-name",
	"message": $"{name}: kueue.x-k8s.io/queue-name {queue} on a pod template queues the pods one by one or not at all, never the whole {kind}",
	"remedy": "move the label to metadata.labels",
}

test_a_label_on_the_pod_template_alone_is_found if {
	check.deny == {found("/spec/template", "the pod", `"research"`, "Job")} with input as examples.bad_job
	check.deny == {found(
		"/spec/replicatedJobs/1/template/spec/template",
		"workers",
		`"research"`,
		"JobSet",
	)} with input as examples.bad_jobset
}

test_it_is_found_on_every_template_beside_an_empty_one_on_the_object if {
	check.deny == {
		found("/spec/pytorchReplicaSpecs/Master/template", "Master", `"research"`, "PyTorchJob"),
		found("/spec/pytorchReplicaSpecs/Worker/template", "Worker", `"research"`, "PyTorchJob"),
	} with input as examples.bad_pytorchjob
}

test_a_label_on_the_job_as_well_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_the_pods_of_a_deployment_are_queued_one_by_one_anyhow if {
	check.deny == set() with input as examples.good_deployment
}

test_pods_that_form_a_group_are_queued_together if {
	check.deny == set() with input as examples.good_job_of_a_pod_group
	labelled := json.patch(examples.bad_job, [{
		"op": "add",
		"path": "/podSets/0/labels/kueue.x-k8s.io~1pod-group-name",
		"value": "tokenise",
	}])
	check.deny == set() with input as labelled
}

test_an_empty_label_is_none if {
	emptied := json.patch(examples.bad_job, [{
		"op": "replace",
		"path": "/podSets/0/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	check.deny == set() with input as emptied
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}

test_a_kind_that_kueue_does_not_read_is_left_alone if {
	check.deny == set() with input as examples.good_daemonset
}
