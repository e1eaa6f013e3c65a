package usher.checks.gang.volcano_queue_never_fits_test

import data.examples.checks.gang.volcano_queue_never_fits as examples
import data.usher.checks.gang.volcano_queue_never_fits as check

found(path, needs, queue, can) := {
	"path": path,
	"message": $"the workload needs {needs} at once, but Volcano queue {queue} can never give more than {can}",
	"remedy": $"ask for at most {can} of nvidia.com/gpu at once, or choose a queue with more",
}

test_a_gang_above_the_capability_is_found if {
	needs := "64 of nvidia.com/gpu (8 worker x 8)"
	check.deny == {found("/spec/queue", needs, "research", "32")} with input as examples.bad_volcano_job
	check.unknown == set() with input as examples.bad_volcano_job
}

test_a_queue_that_the_operator_may_not_read_is_an_assumption if {
	place := "/spec/runPolicy/schedulingPolicy/queue"
	assumed := {"assumption": "the operator of PyTorchJobs makes gangs on Volcano"}
	expected := object.union(found(place, "64 of nvidia.com/gpu (8 Worker x 8)", "research", "32"), assumed)
	check.deny == {expected} with input as examples.bad_pytorchjob
}

test_queues_above_count_where_the_scheduler_knows_of_them if {
	assumed := {"assumption": "usher assumes that the plugin capacity of Volcano's scheduler has enableHierarchy"}
	expected := object.union(found("/spec/queue", "24 of nvidia.com/gpu (3 worker x 8)", "lab", "16"), assumed)
	check.deny == {expected} with input as examples.bad_below_another_queue
}

test_a_group_starts_with_as_many_as_it_says if {
	place := "/spec/replicatedJobs/0/template/spec/template/metadata/annotations/scheduling.k8s.io~1group-name"
	check.deny == {found(place, "64 of nvidia.com/gpu", "research", "32")} with input as examples.bad_pod_group
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_volcano_job
	check.deny == set() with input as examples.good_volcano_job_that_starts_with_a_part
	check.deny == set() with input as examples.good_deployment
}

test_what_cannot_be_read_is_unknown if {
	document := object.union(examples.good_volcano_job, {"cluster": {"volcano": {"unreadable": [{
		"of": "Queue research",
		"field": "spec.capability",
		"reason": "is not an object",
	}]}}})
	check.unknown == {{
		"path": "/metadata",
		"reason": "usher does not compare spec.capability of Queue research: is not an object",
	}} with input as document
}
