package usher.checks.gang.pod_group_minimum_above_pods_test

import data.examples.checks.gang.pod_group_minimum_above_pods as examples
import data.usher.checks.gang.pod_group_minimum_above_pods as check

found(path, pods) := {{
	"path": path,
	"message": $"PodGroup \"eight\" waits for 8 pods, but the workload makes only {pods} that name it",
	"remedy": $"set minMember of the PodGroup to {pods}",
	"assumption": "usher assumes that no other workload names this PodGroup",
}}

place := "/spec/replicatedJobs/0/template/spec/template/metadata/annotations/scheduling.k8s.io~1group-name"

test_a_group_that_waits_for_more_pods_than_there_are_is_found if {
	check.deny == found(place, 4) with input as examples.bad_jobset
	check.deny == found(place, 1) with input as examples.bad_jobset_of_one_pod
	worker := "/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations/scheduling.k8s.io~1group-name"
	check.deny == found(worker, 2) with input as examples.bad_pytorchjob_with_its_annotation
}

test_as_many_pods_as_it_waits_for_are_good if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_deployment
}

test_pods_without_bound_may_be_enough if {
	document := json.patch(examples.bad_jobset, [{"op": "remove", "path": "/cluster/volcano/groups/0/most"}])
	check.deny == set() with input as document
}

test_pods_may_be_made_one_by_one if {
	document := object.union(examples.bad_jobset_of_one_pod, {"workload": {"kind": "Pod"}})
	check.deny == set() with input as document
}

test_groups_of_kubernetes_and_of_the_coscheduling_plugin_wait_in_the_same_way if {
	check.deny == found("/spec/template/metadata/labels/scheduling.x-k8s.io~1pod-group", 4) with input as examples.bad_job_of_the_plugin
	check.deny == {{
		"path": "/spec/template/spec/schedulingGroup/podGroupName",
		"message": "PodGroup \"eight\" waits for 8 pods, but the workload makes only 4 that name it",
		"remedy": "set minCount of the PodGroup to 4",
		"assumption": "usher assumes that no other workload names this PodGroup",
	}} with input as examples.bad_job_of_kubernetes
}

test_a_composite_group_waits_for_its_groups if {
	check.deny == {{
		"path": "/spec/template/spec/schedulingGroup/podGroupName",
		"message": "CompositePodGroup \"three\" above PodGroup \"leaf\" waits for 3 groups, but only 1 names it",
		"remedy": "set minGroupCount of the CompositePodGroup to 1, or create the other groups",
		"assumption": "usher assumes that no other groups name this CompositePodGroup",
	}} with input as examples.bad_job_below_a_composite_group
}

test_a_group_of_a_workload_of_kubernetes_1_35_waits_too if {
	check.deny == {{
		"path": "/spec/template/spec/workloadRef/podGroup",
		"message": "PodGroup \"earlier/workers\" waits for 8 pods, but the workload makes only 4 that name it",
		"remedy": "set minCount of the PodGroup to 4",
		"assumption": "usher assumes that no other workload names this PodGroup",
	}} with input as examples.bad_job_of_a_workload
}
