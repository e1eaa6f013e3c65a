package usher.mutations.cost.job_lifetime_test

import data.examples.mutations.cost.job_lifetime as examples
import data.usher.mutations.cost.job_lifetime as mutation

deadline := {
	"at": "",
	"field": "lifetime",
	"value": {"setting": "deadline", "seconds": 259200},
	"reason": "usher.yaml gives this workload a deadline, so that it cannot hang for ever",
}

ttl := {
	"at": "",
	"field": "lifetime",
	"value": {"setting": "ttl", "seconds": 86400},
	"reason": "usher.yaml says how long this workload stays after its end",
}

skipped(reason) := {{"at": "", "reason": reason}}

test_a_job_gets_a_deadline_and_a_time_to_live if {
	mutation.intents == {deadline, ttl} with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_a_site_may_set_one_of_them if {
	document := json.remove(examples.before_pytorchjob, ["/site/lifecycle/ttl"])
	mutation.intents == {deadline} with input as document
	mutation.skips == set() with input as document
}

test_without_an_entry_of_usher_yaml_nothing_is_set if {
	mutation.intents == set() with input as examples.untouched_deployment
	mutation.skips == skipped("lifecycle of usher.yaml gives this workload neither a deadline nor a time to live") with input as examples.untouched_deployment
}

test_the_owner_decides_about_what_it_made if {
	mutation.intents == set() with input as examples.untouched_job_of_a_jobset
	mutation.skips == skipped("a controller made this object, and its owner decides") with input as examples.untouched_job_of_a_jobset
}

test_a_kind_gets_only_the_fields_that_it_has if {
	document := json.remove(examples.before_pytorchjob, ["/workload/lifecycle/deadline"])
	mutation.intents == {ttl} with input as document
	mutation.skips == skipped("the kind PyTorchJob has no field for a deadline") with input as document
}

test_the_deadline_of_the_queue_counts if {
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/workload/labels/kueue.x-k8s.io~1max-exec-time-seconds", "value": "864000"}])
	mutation.intents == {ttl} with input as document
	mutation.skips == skipped("Kueue's label for the maximum execution time is its deadline") with input as document
}

test_so_it_does_where_kueue_reads_other_labels if {
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/workload/queueLabels", "value": {"kueue.x-k8s.io/max-exec-time-seconds": "864000"}}])
	mutation.intents == {ttl} with input as document
}

test_the_deadline_of_the_pods_counts if {
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/podSets/0/activeDeadlineSeconds", "value": 864000}])
	mutation.intents == {ttl} with input as document
	mutation.skips == skipped("its pods have a deadline") with input as document
}

queue := [{"op": "add", "path": "/site/queue", "value": {"localQueue": "research", "placesPods": true}}]

test_a_rayjob_that_kueue_would_refuse_is_left_to_its_author if {
	document := json.patch(examples.before_rayjob, queue)
	mutation.intents == {deadline} with input as document
	mutation.skips == skipped("Kueue would only queue this RayJob with shutdownAfterJobFinishes; set it, and the webhook queues the job") with input as document
}

test_a_rayjob_outside_of_kueue_gets_an_end_of_its_cluster if {
	mutation.intents == {deadline, ttl} with input as examples.before_rayjob
}

test_a_rayjob_that_ends_its_cluster_may_be_queued if {
	document := json.patch(examples.before_rayjob_that_says_when_its_cluster_goes, queue)
	mutation.intents == {deadline, ttl} with input as document
}
