package usher.mutations.gang.native_routing_test

import data.examples.mutations.gang.native_routing as examples
import data.usher.mutations.gang.native_routing as mutation

noted(reason) := {{"at": "", "reason": reason}}

test_a_job_asks_for_a_gang_of_all_its_pods if {
	mutation.intents == {{
		"at": "",
		"field": "gangSetting",
		"value": {"setting": "native", "value": {"schedulingPolicy": {"gang": {}}}},
		"reason": "usher.yaml routes this Job of namespace ml-research to the scheduler of Kubernetes as a gang",
	}} with input as examples.before_job
	mutation.skips == set() with input as examples.before_job
	mutation.warnings == set() with input as examples.before_job
}

test_other_kinds_need_a_group_that_somebody_made if {
	reason := "the webhook does not route this object, because Kubernetes makes no PodGroup for a JobSet; create one and name it in schedulingGroup of every template"
	mutation.intents == set() with input as examples.untouched_jobset
	mutation.warnings == noted(reason) with input as examples.untouched_jobset
}

test_a_cluster_without_pod_groups_is_a_reason if {
	document := object.union(examples.before_job, {"cluster": {"podGroups": {"named": [], "served": false}}})
	reason := "the webhook does not route this object, because the cluster does not serve PodGroups of Kubernetes; turn on the feature gates GenericWorkload and WorkloadWithJob"
	mutation.intents == set() with input as document
	mutation.warnings == noted(reason) with input as document
}

test_pods_that_follow_others_would_wait_for_them if {
	document := json.patch(examples.before_job, [{"op": "add", "path": "/object/job/spec/completions", "value": 400}])
	mutation.intents == set() with input as document
	mutation.warnings == noted("the webhook does not route this object, because not all of its pods run at once") with input as document
}

test_a_group_of_its_own_and_another_scheduler_stay if {
	mutation.intents == set() with input as examples.untouched_job_of_a_group
	mutation.warnings == noted("its pods name a PodGroup of Kubernetes already") with input as examples.untouched_job_of_a_group
	mutation.intents == set() with input as examples.untouched_job_on_another_scheduler
	mutation.skips == noted("one of its templates names another scheduler") with input as examples.untouched_job_on_another_scheduler
	elsewhere := noted("usher.yaml does not route the workload to the scheduler of Kubernetes")
	mutation.skips == elsewhere with input as examples.untouched_job_elsewhere
}
