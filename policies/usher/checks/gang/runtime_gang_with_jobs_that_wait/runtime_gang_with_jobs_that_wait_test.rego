package usher.checks.gang.runtime_gang_with_jobs_that_wait_test

import data.examples.checks.gang.runtime_gang_with_jobs_that_wait as examples
import data.usher.checks.gang.runtime_gang_with_jobs_that_wait as check

found(name) := {{
	"path": "/spec/template/spec/replicatedJobs/1/dependsOn",
	"message": $"the PodGroup counts the pods of {name}, but these pods start only after other jobs, so the scheduler never places any pod",
	"remedy": "remove podGroupPolicy, or dependsOn",
}}

test_a_job_that_is_made_later_is_found if {
	check.deny == found("node") with input as examples.bad_clustertrainingruntime
	check.deny == found("node") with input as examples.bad_trainingruntime
	check.deny == found("export") with input as examples.bad_trainingruntime_of_two_steps
}

test_a_job_need_not_have_a_name if {
	place := "/object/trainingRuntime/spec/template/spec/replicatedJobs/1/name"
	nameless := json.patch(examples.bad_trainingruntime, [{"op": "remove", "path": place}])
	check.deny == found("a job") with input as nameless
}

test_jobs_without_dependencies_are_good if {
	check.deny == set() with input as examples.good_clustertrainingruntime
	place := "/object/trainingRuntime/spec/template/spec/replicatedJobs/1/dependsOn"
	empty := json.patch(examples.bad_trainingruntime, [{"op": "replace", "path": place, "value": []}])
	check.deny == set() with input as empty
}

test_without_a_gang_jobs_may_wait if {
	check.deny == set() with input as examples.good_trainingruntime_without_gang
	place := "/object/trainingRuntime/spec/podGroupPolicy"
	empty := json.patch(examples.bad_trainingruntime, [{"op": "replace", "path": place, "value": {}}])
	check.deny == set() with input as empty
}
