package usher.checks.priority.workload_class_unknown_test

import data.examples.checks.priority.workload_class_unknown as examples
import data.usher.checks.priority.workload_class_unknown as check

found(path, name) := {{
	"path": $"{path}/labels/kueue.x-k8s.io~1priority-class",
	"message": $"the workload names WorkloadPriorityClass \"{name}\", which does not exist, so Kueue does not admit it",
	"remedy": "name a class that `kubectl get workloadpriorityclasses` lists, or create this one",
	"missing": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name},
}}

test_a_class_that_is_not_there_is_found if {
	check.deny == found("/metadata", "research-high") with input as examples.bad_job
	check.deny == found("/metadata", "research-high") with input as examples.bad_pytorchjob
	check.unknown == set() with input as examples.bad_job
}

test_it_is_read_where_kueue_reads_it if {
	check.deny == found("/spec/jobTemplate/metadata", "nightly") with input as examples.bad_cronjob
}

test_a_class_that_is_there_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_without_label_nothing_is_looked_for if {
	check.deny == set() with input as examples.good_deployment
}

test_without_any_classes_among_the_facts_it_is_unknown if {
	document := json.patch(examples.bad_job, [{"op": "remove", "path": "/cluster/priorities/inQueue/exists"}])
	check.deny == set() with input as document
	check.unknown == {{
		"path": "/metadata/labels/kueue.x-k8s.io~1priority-class",
		"reason": `usher does not know whether WorkloadPriorityClass "research-high" exists: the facts of the cluster contain no WorkloadPriorityClasses`,
	}} with input as document
}
