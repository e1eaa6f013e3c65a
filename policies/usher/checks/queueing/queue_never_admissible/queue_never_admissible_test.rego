package usher.checks.queueing.queue_never_admissible_test

import data.examples.checks.queueing.queue_never_admissible as examples
import data.usher.checks.queueing.queue_never_admissible as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found(message, remedy) := {"path": label, "message": message, "remedy": remedy}

test_the_job_of_64_gpus_never_gets_into_a_queue_of_48 if {
	check.deny == {found(
		"this PyTorchJob asks for 64 nvidia.com/gpu (8 pods of Worker x 8); ClusterQueue research-queue can never give more than 48 of flavor a100 (16 own + 32 borrowed)",
		"use queue big, which could admit it",
	)} with input as examples.bad_pytorchjob
	check.unknown == set() with input as examples.bad_pytorchjob
}

test_flavors_are_not_added_up_for_one_pod_set if {
	check.deny == {found(
		"this Job asks for 128 nvidia.com/gpu (16 pods x 8); ClusterQueue two-kinds-queue can never give more than 16 of flavor h100 (16 own), 8 of flavor a100 (8 own)",
		"use queue parted, which could admit it",
	)} with input as examples.bad_job_of_two_flavors
	check.deny == {found(
		"this Pod asks for 80 nvidia.com/gpu (1 pod x 80); ClusterQueue two-kinds-queue can never give more than 16 of flavor h100 (16 own), 8 of flavor a100 (8 own)",
		"use queue parted, which could admit it",
	)} with input as examples.bad_pod
}

test_all_resources_must_be_there_in_one_flavor if {
	remedy := "have the quotas of one flavor raised for all of its resources, or ask for less"
	check.deny == {
		found(
			"this Job asks for 256 cpu (4 pods x 64); ClusterQueue parted-queue can give that, but not in one flavor together with the other resources: 512 of flavor h100 (512 own), 8 of flavor a100 (8 own)",
			remedy,
		),
		found(
			"this Job asks for 32 nvidia.com/gpu (4 pods x 8); ClusterQueue parted-queue can give that, but not in one flavor together with the other resources: 256 of flavor a100 (256 own), 8 of flavor h100 (8 own)",
			remedy,
		),
	} with input as examples.bad_job_of_parted_flavors
}

test_another_queue_is_named_for_resources_that_are_not_there_together_as_well if {
	document := json.patch(
		examples.bad_job_of_parted_flavors,
		[{"op": "add", "path": "/cluster/kueue/queue/clusterQueue/verdict/fitsIn", "value": "big"}],
	)
	remedies := {finding.remedy | some finding in check.deny} with input as document
	remedies == {"use queue big, which could admit it"}
}

test_what_is_never_admitted_is_not_unknown_as_well if {
	document := json.patch(
		examples.bad_pytorchjob,
		[{"op": "replace", "path": "/cluster/kueue/queue/clusterQueue/verdict/unknowns", "value": ["its claims are not known"]}],
	)
	check.unknown == set() with input as document
	count(check.deny) == 1 with input as document
}

test_where_no_other_queue_has_enough_the_most_is_named if {
	document := json.remove(examples.bad_pytorchjob, ["/cluster/kueue/queue/clusterQueue/verdict/fitsIn"])
	some finding in check.deny with input as document
	finding.remedy == "ask for at most 48 nvidia.com/gpu, or have the quota raised"
}

test_what_the_queue_covers_is_too_little_by_any_configuration_of_kueue if {
	document := json.patch(
		examples.bad_pytorchjob,
		[{"op": "replace", "path": "/cluster/kueue/configurationKnown", "value": false}],
	)
	some finding in check.deny with input as document
	object.keys(finding) == {"path", "message", "remedy"}
}

test_what_fits_into_the_empty_queue_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.unknown == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_jobset
}

test_a_job_that_is_content_with_fewer_pods_is_good if {
	check.deny == set() with input as examples.good_job_that_is_content_with_less
}

test_what_is_missing_for_an_answer_is_unknown if {
	verdict := "/cluster/kueue/queue/clusterQueue/verdict"
	document := json.patch(examples.good_pytorchjob, [
		{"op": "replace", "path": $"{verdict}/outcome", "value": "unknown"},
		{"op": "replace", "path": $"{verdict}/unknowns", "value": ["the ResourceFlavors are not known"]},
	])
	check.deny == set() with input as document
	check.unknown == {{
		"path": label,
		"reason": "usher does not know whether ClusterQueue research-queue could ever admit this PyTorchJob: the ResourceFlavors are not known",
	}} with input as document
}

test_where_nobody_can_read_where_a_queue_leads_it_is_unknown if {
	check.deny == set() with input as examples.unknown_unreadable_queue
	check.unknown == {{
		"path": "/metadata/labels/kueue.x-k8s.io~1queue-name",
		"reason": "usher does not know whether the ClusterQueue of LocalQueue odd could ever admit this Job: LocalQueue odd, spec.clusterQueue: expected a string, found a number; quote it",
	}} with input as examples.unknown_unreadable_queue
}

test_where_no_amount_of_these_pods_would_help_only_quota_does if {
	verdict := "/cluster/kueue/queue/clusterQueue/verdict"
	document := json.patch(examples.bad_pytorchjob, [
		{"op": "remove", "path": $"{verdict}/fitsIn"},
		{"op": "replace", "path": $"{verdict}/shortages/0/fits", "value": {"text": "0", "value": 0, "milli": 0, "whole": true}},
	])
	some finding in check.deny with input as document
	finding.remedy == "have the quota raised"
}

test_a_workload_with_more_pod_sets_than_kueue_accepts_is_never_admitted if {
	check.deny == {found(
		"this JobSet has 9 pod sets; Kueue 0.17.4 accepts at most 8",
		"describe equal pods in one pod set, or make several workloads of it",
	)} with input as examples.bad_jobset_of_many_pod_sets
	check.unknown == set() with input as examples.bad_jobset_of_many_pod_sets
}
