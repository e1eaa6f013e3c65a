package usher.checks.queueing.queue_name_invalid_test

import data.examples.checks.queueing.queue_name_invalid as examples
import data.usher.checks.queueing.queue_name_invalid as check

found(path, queue, kind) := {{
	"path": $"{path}/labels/kueue.x-k8s.io~1queue-name",
	"message": $"no LocalQueue can be named {queue}, so Kueue refuses this {kind}",
	"remedy": "name a LocalQueue of the namespace; its name has only lower-case letters, digits, - and .",
}}

empty(path, kind) := {{
	"path": $"{path}/labels/kueue.x-k8s.io~1queue-name",
	"message": $"the label kueue.x-k8s.io/queue-name is empty, so Kueue refuses this {kind}",
	"remedy": "name a LocalQueue of the namespace, or remove the label",
	"assumption": $"usher assumes that Kueue watches {kind}s",
}}

test_a_name_that_no_object_can_have_is_found if {
	check.deny == found("/metadata", `"Research_NLP"`, "PyTorchJob") with input as examples.bad_pytorchjob
	check.deny == found("/metadata", `"research..nlp"`, "Pod") with input as examples.bad_pod
}

test_it_is_found_where_kueue_reads_it if {
	check.deny == found("/spec/podMetadata", `"team_a"`, "Workflow") with input as examples.bad_workflow
}

test_an_empty_name_rests_on_an_assumption if {
	check.deny == empty("/metadata", "Job") with input as examples.bad_job
	check.deny == empty("/spec/jobTemplate/metadata", "CronJob") with input as examples.bad_cronjob
}

test_names_of_objects_are_good if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_cronjob
}

test_a_label_that_kueue_does_not_read_is_for_another_check if {
	check.deny == set() with input as examples.good_daemonset
}
