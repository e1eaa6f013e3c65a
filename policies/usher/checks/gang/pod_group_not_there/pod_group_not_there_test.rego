package usher.checks.gang.pod_group_not_there_test

import data.examples.checks.gang.pod_group_not_there as examples
import data.usher.checks.gang.pod_group_not_there as check

found(path, group) := {{
	"path": path,
	"message": $"PodGroup \"{group}\" does not exist in this namespace, so Volcano does not place its pods",
	"remedy": "create the PodGroup in the namespace of the workload",
}}

place := "/spec/replicatedJobs/0/template/spec/template/metadata/annotations/scheduling.k8s.io~1group-name"

test_a_group_that_is_not_there_is_found if {
	check.deny == found(place, "pretrian") with input as examples.bad_jobset
	check.deny == found("/metadata/annotations/scheduling.k8s.io~1group-name", "pretrian") with input as examples.bad_pod
	check.unknown == set() with input as examples.bad_jobset
}

test_a_group_of_another_namespace_does_not_do if {
	check.deny == found(place, "elsewhere") with input as examples.bad_jobset_of_another_namespace
}

test_a_group_that_is_there_is_good if {
	check.deny == set() with input as examples.good_jobset
	check.unknown == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_deployment
}

test_without_groups_among_the_facts_it_is_unknown if {
	document := json.patch(examples.bad_jobset, [{"op": "remove", "path": "/cluster/volcano/groups/0/exists"}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": place,
		"reason": `usher does not know whether PodGroup "pretrian" exists: the facts of the cluster contain no PodGroups`,
	}} with input as document
}

test_a_minimum_that_is_no_number_is_unknown if {
	check.deny == set() with input as examples.good_odd_minimum
	check.unknown == {{"path": place, "reason": `minMember of PodGroup "odd" is not a number`}} with input as examples.good_odd_minimum
}

test_a_group_of_kubernetes_that_is_not_there_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/schedulingGroup/podGroupName",
		"message": "PodGroup \"pretrian\" does not exist in this namespace, so the scheduler of Kubernetes does not place its pods",
		"remedy": "create the PodGroup in the namespace of the workload",
	}} with input as examples.bad_job_of_kubernetes
}

test_a_cluster_that_drops_the_name_does_not_wait_for_the_group if {
	document := json.patch(examples.bad_job_of_kubernetes, [{"op": "add", "path": "/cluster/podGroups/served", "value": false}])
	check.deny == set() with input as document
}

test_a_group_needs_the_group_above_it if {
	check.deny == {{
		"path": "/spec/template/spec/schedulingGroup/podGroupName",
		"message": "CompositePodGroup \"missing\" above PodGroup \"leaf\" does not exist in this namespace, so the scheduler of Kubernetes does not place its pods",
		"remedy": "create the CompositePodGroup in the namespace of the workload",
	}} with input as examples.bad_job_below_a_composite_group
}
