package usher.mutations.queueing.workload_priority_class_test

import data.examples.mutations.queueing.workload_priority_class as examples
import data.usher.mutations.queueing.workload_priority_class as mutation

skipped(reason) := {{"at": "", "reason": reason}}

class := {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "research-training"}

queue := {"group": "kueue.x-k8s.io", "kind": "LocalQueue", "name": "research", "namespace": "ml-research"}

labelled(needs) := {{
	"at": "",
	"field": "kueueLabel",
	"value": {"key": "kueue.x-k8s.io/priority-class", "value": "research-training"},
	"reason": "usher.yaml gives workloads in queue research the class research-training by default",
	"needs": needs,
}}

test_a_workload_in_the_declared_queue_gets_its_class if {
	mutation.intents == labelled([class]) with input as examples.before_job
	mutation.skips == set() with input as examples.before_job
}

test_so_does_one_that_is_put_into_it_if_the_queue_is_there if {
	mutation.intents == labelled([class, queue]) with input as examples.before_job_that_is_put_into_the_queue
}

test_a_cron_job_gets_it_where_its_jobs_find_it if {
	mutation.intents == labelled([class]) with input as examples.before_cronjob
}

test_a_workload_in_another_queue_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_in_another_queue
	mutation.skips == skipped("the workload is in queue urgent, but usher.yaml sets the class for research") with input as examples.untouched_job_in_another_queue
}

test_a_class_that_the_user_chose_stays if {
	mutation.intents == set() with input as examples.untouched_job_with_a_class
	mutation.skips == skipped(`the workload already has the queue class "urgent"`) with input as examples.untouched_job_with_a_class
}

test_a_queue_without_a_declared_class_has_none_to_give if {
	mutation.intents == set() with input as examples.untouched_job_of_a_queue_without_class
	mutation.skips == skipped("usher.yaml names no class for the queue of this workload") with input as examples.untouched_job_of_a_queue_without_class
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_owned_job
	mutation.skips == skipped("a controller made this object, and Kueue queues the owner") with input as examples.untouched_owned_job
}

test_kinds_that_kueue_does_not_queue_are_left_alone if {
	mutation.skips == skipped("Kueue does not queue objects of kind Job") with input as examples.untouched_volcano_job
	mutation.skips == skipped("Kueue's configuration does not enable kubeflow.org/pytorchjob") with input as examples.untouched_pytorchjob_that_kueue_leaves_out
	mutation.intents == set() with input as examples.untouched_pytorchjob_that_kueue_leaves_out
}

test_a_job_that_kueue_cannot_take_gets_no_class if {
	claim := {"name": "gpu", "resourceClaimName": "one-for-all"}
	job := json.patch(
		examples.before_job_that_is_put_into_the_queue,
		[{"op": "add", "path": "/podSets/0/resourceClaims", "value": [claim]}],
	)
	mutation.intents == set() with input as job
	mutation.skips == skipped("Kueue cannot take the workload into a queue") with input as job
}
