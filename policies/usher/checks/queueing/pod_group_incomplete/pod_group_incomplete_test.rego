package usher.checks.queueing.pod_group_incomplete_test

import data.examples.checks.queueing.pod_group_incomplete as examples
import data.usher.checks.queueing.pod_group_incomplete as check

total := "kueue.x-k8s.io~1pod-group-total-count"

without_total(path, name, group) := {{
	"path": $"{path}/kueue.x-k8s.io~1pod-group-name",
	"message": $"{name} is in pod group {group} but does not set the pod count of the group, so Kueue refuses it",
	"remedy": "set the annotation kueue.x-k8s.io/pod-group-total-count to the number of pods of the whole group",
}}

no_number(path, name, value) := {{
	"path": $"{path}/annotations/{total}",
	"message": $"{name}: kueue.x-k8s.io/pod-group-total-count {value} is not a whole number of at least 1, so Kueue refuses it",
	"remedy": "set it to the number of pods of the whole group",
}}

test_a_group_without_a_total_is_found if {
	check.deny == without_total("/metadata/labels", "the pod", `"ring"`) with input as examples.bad_pod
}

test_the_name_may_be_an_annotation if {
	check.deny == without_total(
		"/spec/template/metadata/annotations",
		"the pod",
		`"cache"`,
	) with input as examples.bad_replicaset
}

test_a_total_without_a_group_is_found if {
	check.deny == {{
		"path": $"/spec/podMetadata/annotations/{total}",
		"message": `train has kueue.x-k8s.io/pod-group-total-count "4" but names no pod group, so Kueue refuses it`,
		"remedy": "set the label kueue.x-k8s.io/pod-group-name to the name of the group",
	}} with input as examples.bad_workflow
}

test_a_total_that_is_no_number_is_found if {
	check.deny == no_number("/metadata", "the pod", `"all"`) with input as examples.bad_pod_of_an_uncountable_group
	zero := json.patch(examples.good_pod, [{"op": "replace", "path": $"/podSets/0/annotations/{total}", "value": "0"}])
	check.deny == no_number("/metadata", "the pod", `"0"`) with input as zero
}

test_without_a_name_the_total_does_not_matter if {
	worded := json.patch(
		examples.bad_workflow,
		[{"op": "replace", "path": $"/podSets/0/annotations/{total}", "value": "all"}],
	)
	check.deny == {{
		"path": $"/spec/podMetadata/annotations/{total}",
		"message": `train has kueue.x-k8s.io/pod-group-total-count "all" but names no pod group, so Kueue refuses it`,
		"remedy": "set the label kueue.x-k8s.io/pod-group-name to the name of the group",
	}} with input as worded
}

test_a_name_and_a_total_are_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_job
}

test_a_group_of_one_is_good if {
	one := json.patch(examples.good_pod, [{"op": "replace", "path": $"/podSets/0/annotations/{total}", "value": "1"}])
	check.deny == set() with input as one
}

test_a_pod_of_no_group_is_good if {
	check.deny == set() with input as examples.good_pod_of_no_group
}
