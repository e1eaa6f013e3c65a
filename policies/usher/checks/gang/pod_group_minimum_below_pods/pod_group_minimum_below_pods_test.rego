package usher.checks.gang.pod_group_minimum_below_pods_test

import data.examples.checks.gang.pod_group_minimum_below_pods as examples
import data.usher.checks.gang.pod_group_minimum_below_pods as check

found(path, group, minimum, pods) := {{
	"path": path,
	"message": $"PodGroup \"{group}\" can start with only {minimum} of the {pods} pods that name it",
	"remedy": $"set minMember of the PodGroup to {pods}",
}}

place := "/spec/replicatedJobs/0/template/spec/template/metadata/annotations/scheduling.k8s.io~1group-name"

test_a_group_that_starts_with_a_part_is_found if {
	check.deny == found(place, "four", 4, 8) with input as examples.bad_jobset
	worker := "/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations/scheduling.k8s.io~1group-name"
	check.deny == found(worker, "four", 4, 6) with input as examples.bad_pytorchjob_with_its_annotation
}

test_a_group_without_a_minimum_waits_for_no_pods if {
	check.deny == found(place, "silent", 0, 2) with input as examples.bad_jobset_of_a_silent_group
}

test_a_group_of_all_pods_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_pods_that_do_not_wait_for_each_other_may_start_one_by_one if {
	check.deny == set() with input as examples.good_jobset_that_is_no_training
}
