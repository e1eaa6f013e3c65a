package usher.checks.queueing.topology_slice_size_invalid_test

import data.examples.checks.queueing.topology_slice_size_invalid as examples
import data.usher.checks.queueing.topology_slice_size_invalid as check

key := "annotations/kueue.x-k8s.io~1podset-slice-size"

no_number(path, name, size) := {{
	"path": $"{path}/{key}",
	"message": $"{name}: kueue.x-k8s.io/podset-slice-size {size} is not a whole number of at least 1, so Kueue refuses it",
	"remedy": "set it to the number of pods that must be in one domain",
}}

sized(document, size) := json.patch(document, [{
	"op": "replace",
	"path": "/podSets/0/annotations/kueue.x-k8s.io~1podset-slice-size",
	"value": size,
}])

test_what_is_no_number_is_found if {
	check.deny == no_number("/spec/template/metadata", "the pod", `"half"`) with input as examples.bad_job
	check.deny == no_number("/metadata", "the pod", `"0"`) with input as examples.bad_pod
}

test_numbers_of_other_forms_are_found if {
	every size in ["", "-4", "2.5", "1234567890"] {
		shown := json.marshal(size)
		check.deny == no_number("/spec/template/metadata", "the pod", shown) with input as sized(examples.bad_job, size)
	}
}

test_a_slice_of_more_pods_than_there_are_is_found if {
	check.deny == {{
		"path": $"/spec/replicatedJobs/0/template/spec/template/metadata/{key}",
		"message": "workers has slices of 8 pods, but makes at most 4 pods, so Kueue refuses it",
		"remedy": "set kueue.x-k8s.io/podset-slice-size to 4 or less",
	}} with input as examples.bad_jobset
}

test_a_slice_of_all_pods_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_the_smallest_and_the_longest_number_are_numbers if {
	check.deny == set() with input as sized(examples.bad_job, "1")
	check.deny == {{
		"path": $"/spec/template/metadata/{key}",
		"message": "the pod has slices of 123456789 pods, but makes at most 8 pods, so Kueue refuses it",
		"remedy": "set kueue.x-k8s.io/podset-slice-size to 8 or less",
	}} with input as sized(examples.bad_job, "123456789")
}

test_pods_without_bound_are_enough_for_every_slice if {
	unbounded := json.remove(examples.bad_jobset, ["/podSets/0/pods/maximum"])
	check.deny == set() with input as unbounded
}

test_a_pod_may_be_one_of_a_group if {
	check.deny == set() with input as examples.good_pod
}
