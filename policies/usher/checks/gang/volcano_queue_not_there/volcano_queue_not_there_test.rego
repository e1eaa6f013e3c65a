package usher.checks.gang.volcano_queue_not_there_test

import data.examples.checks.gang.volcano_queue_not_there as examples
import data.usher.checks.gang.volcano_queue_not_there as check

found(path, queue) := {
	"path": path,
	"message": $"Volcano queue \"{queue}\" does not exist, so the workload never starts",
	"remedy": "name a queue that `kubectl get queues.scheduling.volcano.sh` lists",
	"missing": {"group": "scheduling.volcano.sh", "kind": "Queue", "name": queue},
}

test_a_queue_that_is_not_there_is_found if {
	check.deny == {found("/spec/queue", "reserch")} with input as examples.bad_volcano_job
	check.unknown == set() with input as examples.bad_volcano_job
}

test_without_a_queue_there_must_be_the_usual_one if {
	check.deny == {found("/spec/queue", "default")} with input as examples.bad_volcano_job_of_no_queue
}

test_a_queue_that_the_operator_may_not_read_is_an_assumption if {
	place := "/spec/runPolicy/schedulingPolicy/queue"
	assumed := {"assumption": "the operator of PyTorchJobs makes gangs on Volcano"}
	check.deny == {object.union(found(place, "reserch"), assumed)} with input as examples.bad_pytorchjob
}

test_the_queue_of_the_group_counts if {
	place := "/spec/replicatedJobs/0/template/spec/template/metadata/annotations/scheduling.k8s.io~1group-name"
	check.deny == {found(place, "gone")} with input as examples.bad_pod_group
}

test_a_queue_that_is_there_is_good if {
	check.deny == set() with input as examples.good_volcano_job
	check.deny == set() with input as examples.good_deployment
}

test_without_queues_among_the_facts_it_is_unknown if {
	document := json.patch(examples.bad_volcano_job, [{
		"op": "replace",
		"path": "/cluster/volcano/queues/0/standing",
		"value": "not known",
	}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": "/spec/queue",
		"reason": `usher does not know whether Volcano queue "reserch" exists: the facts of the cluster contain no Volcano queues`,
	}} with input as document
}
