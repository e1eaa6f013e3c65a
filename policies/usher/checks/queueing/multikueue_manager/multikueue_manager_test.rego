package usher.checks.queueing.multikueue_manager_test

import data.examples.checks.queueing.multikueue_manager as examples
import data.usher.checks.queueing.multikueue_manager as check

stays(place, manager, kind, field) := {{
	"path": place,
	"message": $"queue worldwide sends its jobs to other clusters, but {manager} manages this {kind}, so it never runs there",
	"remedy": $"create it with {field}: kueue.x-k8s.io/multikueue",
}}

lost(obstacle) := {
	"path": "/spec/managedBy",
	"message": $"MultiKueue manages this Job, but {obstacle}, so no controller runs it",
	"remedy": "create it without spec.managedBy, or in a queue of MultiKueue",
}

test_a_job_of_the_queue_without_the_field_stays_here if {
	check.deny == stays("/spec/managedBy", "the controller of this cluster", "Job", "spec.managedBy") with input as examples.bad_job_of_this_cluster
}

test_so_does_a_job_of_another_controller if {
	check.deny == stays("/spec/managedBy", "\"example.com/runner\"", "Job", "spec.managedBy") with input as examples.bad_job_of_another_controller
	check.deny == stays("/spec/runPolicy/managedBy", "\"kubeflow.org/training-operator\"", "PyTorchJob", "spec.runPolicy.managedBy") with input as examples.bad_pytorchjob
}

test_a_queue_without_admission_checks_is_not_multikueues if {
	check.deny == {lost("its queue \"here\" has no AdmissionCheck, which MultiKueue is")} with input as examples.bad_job_outside_of_the_queue
}

test_a_queue_that_usher_does_not_know_may_be_multikueues if {
	document := json.remove(examples.bad_job_outside_of_the_queue, ["/cluster"])
	check.deny == set() with input as document
}

unqueued := json.remove(examples.bad_job_outside_of_the_queue, [
	"/workload/labels/kueue.x-k8s.io~1queue-name",
	"/cluster/kueue/queue",
	"/site/queue",
])

test_a_job_in_no_queue_is_lost if {
	check.deny == {lost("it is in no queue")} with input as unqueued
}

test_without_facts_usher_assumes_that_no_queue_is_the_default if {
	found := object.union(lost("it is in no queue"), {"assumption": "usher assumes that the namespace has no LocalQueue named default"})
	check.deny == {found} with input as json.remove(unqueued, ["/cluster"])
}

test_a_job_that_the_webhook_queues_is_not_lost if {
	document := json.patch(json.remove(unqueued, ["/cluster"]), [{"op": "add", "path": "/site/queue", "value": {"localQueue": "worldwide", "placesPods": true, "multiKueue": true}}])
	check.deny == set() with input as document
}

test_a_job_of_the_queue_with_the_field_is_good if {
	check.deny == set() with input as examples.good_job
}

test_a_job_of_another_queue_without_the_field_is_good if {
	check.deny == set() with input as examples.good_job_in_another_queue
}

test_what_a_controller_made_is_judged_with_its_owner if {
	check.deny == set() with input as examples.good_job_of_a_jobset
}
