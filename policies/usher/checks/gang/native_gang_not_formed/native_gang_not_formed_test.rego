package usher.checks.gang.native_gang_not_formed_test

import data.examples.checks.gang.native_gang_not_formed as examples
import data.usher.checks.gang.native_gang_not_formed as check

place := "/spec/template/spec/schedulingGroup/podGroupName"

without_group(document) := json.patch(document, [{"op": "add", "path": "/cluster/podGroups/served", "value": false}])

test_a_group_with_the_basic_policy_is_no_gang if {
	check.deny == {{
		"path": place,
		"message": "PodGroup \"apart\" has the policy basic, so the scheduler of Kubernetes places its pods one by one",
		"remedy": "create the PodGroup again with schedulingPolicy.gang",
	}} with input as examples.bad_job_of_a_basic_group
}

test_pods_that_do_not_wait_may_have_such_a_group if {
	check.deny == set() with input as examples.good_batch_of_a_basic_group
	check.unknown == set() with input as examples.good_batch_of_a_basic_group
}

test_a_gang_that_exists_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_a_cluster_without_the_feature_drops_the_name_of_the_group if {
	check.deny == {{
		"path": place,
		"message": "the cluster does not serve PodGroups of Kubernetes, so the API server drops schedulingGroup and the pods start one by one",
		"remedy": "turn on the feature gate GenericWorkload, or let another scheduler or Kueue start the pods together",
	}} with input as without_group(examples.good_job)
}

test_a_cluster_without_the_feature_drops_the_field_of_a_job if {
	document := without_group(examples.unknown_job_with_its_own_gang)
	check.deny == {{
		"path": "/spec/scheduling",
		"message": "the cluster does not serve PodGroups of Kubernetes, so the API server drops spec.scheduling and the pods start one by one",
		"remedy": "turn on the feature gate GenericWorkload, or let another scheduler or Kueue start the pods together",
	}} with input as document
	check.unknown == set() with input as document
}

test_files_alone_do_not_say_whether_the_feature_is_on if {
	document := json.patch(examples.good_job, [{"op": "remove", "path": "/cluster/podGroups/served"}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": place,
		"reason": "usher does not know whether the cluster has the feature gate GenericWorkload on; without it the pods start one by one",
	}} with input as document
}

test_only_a_route_says_that_jobs_may_ask_for_gangs if {
	check.deny == set() with input as examples.unknown_job_with_its_own_gang
	check.unknown == {{
		"path": "/spec/scheduling",
		"reason": "usher does not know whether the cluster has the feature gate WorkloadWithJob on; without it nothing reads spec.scheduling",
	}} with input as examples.unknown_job_with_its_own_gang
	routed := json.patch(examples.unknown_job_with_its_own_gang, [{
		"op": "add",
		"path": "/site/route",
		"value": {"scheduler": "native", "schedulerName": "default-scheduler", "queue": "default", "setsMinimum": false},
	}])
	check.unknown == set() with input as routed
}

test_a_later_cluster_drops_the_field_of_kubernetes_1_35 if {
	group := {"of": "the scheduler of Kubernetes", "name": "w/g", "path": "/spec/workloadRef/podGroup"}
	document := {"workload": {"role": "training"}, "cluster": {"podGroups": {"named": [group], "served": false}}}
	some finding in check.deny with input as document
	contains(finding.message, "drops workloadRef and")
}
