package usher.mutations.queueing.multikueue_handover_test

import data.examples.mutations.queueing.multikueue_handover as examples
import data.usher.mutations.queueing.multikueue_handover as mutation

handed_over := {{
	"at": "",
	"field": "managedBy",
	"value": {"name": "kueue.x-k8s.io/multikueue"},
	"reason": "MultiKueue runs the jobs of queue worldwide in other clusters",
	"needs": [{"group": "kueue.x-k8s.io", "kind": "LocalQueue", "name": "worldwide", "namespace": "ml-research"}],
}}

skipped(reason) := {{"at": "", "reason": reason}}

test_jobs_of_the_queue_are_handed_over if {
	mutation.intents == handed_over with input as examples.before_job
	mutation.intents == handed_over with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_job
}

test_a_queue_of_this_cluster_runs_its_jobs_here if {
	document := json.remove(examples.before_job, ["/site/queue/multiKueue"])
	mutation.intents == set() with input as document
	mutation.skips == skipped("usher.yaml names no queue of MultiKueue for this workload") with input as document
}

test_another_queue_runs_its_jobs_here if {
	mutation.skips == skipped("the workload is in queue \"here\", which usher.yaml does not declare for it") with input as examples.untouched_job_in_another_queue
	mutation.intents == set() with input as examples.untouched_job_in_another_queue
}

test_a_job_outside_of_every_queue_is_not_handed_over if {
	document := json.patch(examples.before_job, [{"op": "remove", "path": "/workload/labels/kueue.x-k8s.io~1queue-name"}])
	mutation.intents == set() with input as document
	mutation.skips == skipped("the mutation queue-label sets the queue and managedBy together") with input as document
}

test_kinds_without_the_field_stay if {
	mutation.skips == skipped("the kind Deployment has no field managedBy") with input as examples.untouched_deployment
	mutation.intents == set() with input as examples.untouched_deployment
}

test_the_owner_is_handed_over if {
	mutation.skips == skipped("a controller made this object, and MultiKueue takes the owner") with input as examples.untouched_job_of_a_jobset
	mutation.intents == set() with input as examples.untouched_job_of_a_jobset
}
