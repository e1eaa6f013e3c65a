package usher.checks.priority.class_missing_test

import data.examples.checks.priority.class_missing as examples
import data.usher.checks.priority.class_missing as check

found(path, name) := {{
	"path": $"{path}/priorityClassName",
	"message": $"{name} has no priority class, so its pods have priority 0 unless the cluster has a default",
	"remedy": "set priorityClassName to a class of the cluster; kubectl get priorityclasses lists them",
}}

test_pods_without_class_are_found if {
	check.deny == found("/spec/template/spec", "the pod") with input as examples.bad_job
	check.deny == found("/spec", "the pod") with input as examples.bad_pod
}

test_only_pod_sets_with_accelerators_and_without_class_are_found if {
	path := "/spec/rayClusterSpec/workerGroupSpecs/1/template/spec"
	check.deny == found(path, "h100") with input as examples.bad_rayjob
}

test_the_class_of_a_volcano_job_is_that_of_its_pods if {
	check.deny == set() with input as examples.good_volcano_job
}

test_a_class_in_the_queue_is_a_choice_as_well if {
	check.deny == set() with input as examples.good_jobset_with_class_of_its_queue
}

test_system_namespaces_are_left_alone if {
	check.deny == set() with input as examples.good_pod_of_the_operator
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_pod, {"workload": {"owned": true}})
}

test_the_default_of_the_cluster_is_named if {
	default_class := {"name": "research", "value": 1000, "preempts": true}
	cluster := {"cluster": {"priorities": {"classes": {}, "default": default_class}}}
	some finding in check.deny with input as object.union(examples.bad_pod, cluster)
	finding.message == "the pod has no priority class, so its pods get the default class research (1000)"
}

test_without_a_default_the_priority_is_0 if {
	cluster := {"cluster": {"priorities": {"classes": {}, "default": {"name": "", "value": 0, "preempts": true}}}}
	some finding in check.deny with input as object.union(examples.bad_pod, cluster)
	finding.message == "the pod has no priority class, so its pods have priority 0"
}
