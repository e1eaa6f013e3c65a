package usher.mutations.queueing.queue_label_test

import data.examples.mutations.queueing.queue_label as examples
import data.usher.mutations.queueing.queue_label as mutation

labelled := {{
	"at": "",
	"field": "queueLabel",
	"value": {"kueue.x-k8s.io/queue-name": "research"},
	"reason": "accelerators of namespace ml-research are given out by queue research",
}}

test_a_job_without_a_queue_gets_the_one_of_its_namespace if {
	mutation.intents == labelled with input as examples.before_job
}

test_a_cron_job_gets_it_too if {
	mutation.intents == labelled with input as examples.before_cronjob
}

test_a_label_that_kueue_does_not_read_there_is_no_queue if {
	mislabelled := json.patch(examples.before_cronjob, [{
		"op": "add",
		"path": "/workload/labels/kueue.x-k8s.io~1queue-name",
		"value": "urgent",
	}])
	mutation.intents == labelled with input as mislabelled
}

test_an_empty_queue_name_is_no_queue if {
	emptied := json.patch(examples.untouched_job_in_another_queue, [{
		"op": "replace",
		"path": "/workload/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	mutation.intents == labelled with input as emptied
}

test_a_workload_in_another_queue_stays_there if {
	mutation.intents == set() with input as examples.untouched_job_in_another_queue
	mutation.intents == set() with input as examples.untouched_cronjob_in_another_queue
}

test_a_namespace_without_a_queue_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_elsewhere
}

test_a_workload_that_asks_for_no_accelerator_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_cpu_pod
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_owned_job
}

test_a_kind_that_kueue_does_not_know_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_volcano_job
}
