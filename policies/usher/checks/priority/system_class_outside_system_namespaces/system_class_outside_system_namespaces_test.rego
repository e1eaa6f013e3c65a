package usher.checks.priority.system_class_outside_system_namespaces_test

import data.examples.checks.priority.system_class_outside_system_namespaces as examples
import data.usher.checks.priority.system_class_outside_system_namespaces as check

found(path, name, class) := {
	"path": path,
	"message": $"{name} uses priority class {class}, which outranks all other workloads and is only for system namespaces",
	"remedy": "use a priority class of your own, with a value of at most 1000000000, or move it to a system namespace",
}

test_a_system_namespace_may_use_them if {
	check.deny == set() with input as examples.good_daemonset
}

test_other_classes_are_good if {
	check.deny == set() with input as examples.good_pod
}

test_a_workload_without_accelerators_is_judged_too if {
	check.deny == {found(
		"/spec/template/spec/priorityClassName",
		"the pod",
		"system-cluster-critical",
	)} with input as examples.bad_deployment
}

test_every_pod_set_is_judged if {
	cluster := "/spec/rayClusterSpec"
	check.deny == {
		found($"{cluster}/headGroupSpec/template/spec/priorityClassName", "head", "system-node-critical"),
		found(
			$"{cluster}/workerGroupSpecs/0/template/spec/priorityClassName",
			"gpu-group",
			"system-cluster-critical",
		),
	} with input as examples.bad_rayjob
}

test_tasks_of_a_volcano_job_are_judged if {
	check.deny == {found(
		"/spec/tasks/0/template/spec/priorityClassName",
		"worker",
		"system-cluster-critical",
	)} with input as examples.bad_volcano_job
}

test_the_class_of_a_volcano_job_itself_is_found_where_it_stands if {
	place := {"priorityClassName": "/spec/priorityClassName"}
	of_job := json.patch(examples.bad_volcano_job, [{"op": "add", "path": "/podSets/0/places", "value": place}])
	check.deny == {found("/spec/priorityClassName", "worker", "system-cluster-critical")} with input as of_job
}

test_a_label_that_kai_scheduler_reads_is_judged if {
	found_in_label := {found("/metadata/labels/priorityClassName", "the workload", "system-cluster-critical")}
	check.deny == found_in_label with input as examples.bad_job_of_kai
	other := json.patch(
		examples.bad_job_of_kai,
		[{"op": "replace", "path": "/podSets/0/schedulerName", "value": "default-scheduler"}],
	)
	check.deny == set() with input as other
	check.deny == set() with input as object.union(examples.bad_job_of_kai, {"site": {"systemNamespace": true}})
	check.deny == set() with input as object.union(
		examples.bad_job_of_kai,
		{"workload": {"labels": {"priorityClassName": "research"}}},
	)
}

test_a_daemon_set_of_a_tenant_is_judged_like_other_workloads if {
	count(check.deny) > 0 with input as object.union(examples.good_daemonset, {"site": {"systemNamespace": false}})
}
