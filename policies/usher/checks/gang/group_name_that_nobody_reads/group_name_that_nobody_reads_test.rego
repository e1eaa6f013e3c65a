package usher.checks.gang.group_name_that_nobody_reads_test

import data.examples.checks.gang.group_name_that_nobody_reads as examples
import data.usher.checks.gang.group_name_that_nobody_reads as check

found(metadata_path, name, group) := {{
	"path": $"{metadata_path}/annotations/scheduling.volcano.sh~1group-name",
	"message": $`{name} names PodGroup "{group}" in scheduling.volcano.sh/group-name, but Volcano does not read this key, so the pods do not form a gang`,
	"remedy": "name the PodGroup in the annotation scheduling.k8s.io/group-name",
}}

test_the_key_that_volcano_ignores_is_found_on_templates if {
	template := "/spec/replicatedJobs/0/template/spec/template/metadata"
	check.deny == found(template, "workers", "distil") with input as examples.bad_jobset
	check.deny == found("/spec/template/metadata", "the pod", "pretrain") with input as examples.bad_statefulset
}

test_an_empty_name_under_the_right_key_does_not_count if {
	check.deny == found("/metadata", "the pod", "pretrain") with input as examples.bad_pod
}

test_an_empty_name_under_the_ignored_key_does_no_harm if {
	empty := json.patch(examples.bad_pod, [{
		"op": "replace",
		"path": "/podSets/0/annotations/scheduling.volcano.sh~1group-name",
		"value": "",
	}])
	check.deny == set() with input as empty
}

test_the_right_key_is_good_alone_and_beside_the_other if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_pod_with_both
}
