package usher.checks.queueing.limit_below_its_use_test

import data.examples.checks.queueing.limit_below_its_use as examples
import data.usher.checks.queueing.limit_below_its_use as check

found(path, name, now) := {{
	"path": path,
	"message": $"{name} falls from 16 to {now}, but 12 are in use",
	"remedy": "keep 12, or wait until less is in use",
}}

test_a_quota_below_its_use_is_found if {
	check.deny == found("/spec/hard/requests.nvidia.com~1gpu", "requests.nvidia.com/gpu", 8) with input as examples.bad_quota
}

test_a_queue_below_its_use_is_found if {
	check.deny == found("/spec/capability/nvidia.com~1gpu", "nvidia.com/gpu", 0) with input as examples.bad_volcano_queue
	check.deny == found(
		"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota",
		`nvidia.com/gpu in flavor "h100"`,
		8,
	) with input as examples.bad_cluster_queue
}

test_a_queue_of_kai_below_its_use_is_found if {
	check.deny == found("/spec/resources/gpu/limit", "the limit of GPUs", 8) with input as examples.bad_kai_limit
	check.deny == {{
		"path": "/spec/resources/gpu/limit",
		"message": "the limit of GPUs falls from no limit to 8, but 12 are in use",
		"remedy": "keep 12, or wait until less is in use",
	}} with input as examples.bad_kai_limit_of_none
	check.deny == {{
		"path": "/spec/resources/gpu/quota",
		"message": "the quota of GPUs falls from 16 to 4, but 6 are in use",
		"remedy": "keep 6, or wait until less is in use",
	}} with input as examples.bad_kai_quota
	check.deny == set() with input as examples.good_kai_queue
}

test_no_limit_and_other_resources_are_good_in_kai if {
	unlimited := {"op": "replace", "path": "/object/kaiQueue/spec/resources/gpu/limit", "value": {"text": "-1", "milli": -1000, "value": -1, "whole": true}}
	check.deny == set() with input as json.patch(examples.bad_kai_limit, [unlimited])
	cpu := {"op": "replace", "path": "/object/kaiQueue/status/allocated", "value": {"cpu": amount(12)}}
	check.deny == set() with input as json.patch(examples.bad_kai_limit, [cpu])
}

test_a_gpu_quota_below_its_use_is_found if {
	check.deny == found("/spec/limits/0/hard/gpus", "the limit of gpus", 8) with input as examples.bad_gpu_quota
	check.deny == set() with input as examples.good_gpu_quota
	lower := json.patch(examples.bad_gpu_quota, [{"op": "replace", "path": "/object/gpuQuota/spec/limits/1/hard/gpus/amount", "value": amount(4)}])
	check.deny[{
		"path": "/spec/limits/1/hard/gpus",
		"message": "the limit of gpus for training falls from 16 to 4, but 6 are in use",
		"remedy": "keep 6, or wait until less is in use",
	}] with input as lower
	counting := json.patch(examples.bad_gpu_quota, [{"op": "add", "path": "/object/gpuQuota/status/counting", "value": true}])
	check.deny == set() with input as counting
}

test_a_file_is_compared_with_the_quota_of_the_facts if {
	check.deny == found("/spec/hard/requests.nvidia.com~1gpu", "requests.nvidia.com/gpu", 8) with input as examples.bad_file
	check.deny == set() with input as examples.good_file
	check.deny == set() with input as json.remove(examples.bad_file, ["/cluster"])
}

test_a_lower_limit_above_the_use_is_good if {
	check.deny == set() with input as examples.good_quota
	check.deny == set() with input as examples.good_cluster_queue
	check.deny == set() with input as examples.good_equal
}

test_raising_a_limit_that_is_too_low_is_good if {
	check.deny == set() with input as examples.good_raised
}

test_a_new_quota_has_no_use if {
	check.deny == set() with input as json.remove(examples.bad_quota, ["/old"])
}

amount(number) := {"text": sprintf("%d", [number]), "value": number, "milli": number * 1000, "whole": true}

test_other_resources_than_accelerators_are_left_out if {
	fewer := {"object": {"resourceQuota": {"spec": {"hard": {"pods": amount(40)}}}}}
	check.deny == found("/spec/hard/requests.nvidia.com~1gpu", "requests.nvidia.com/gpu", 8) with input as object.union(examples.bad_quota, fewer)
	cpu := {"object": {"volcanoQueue": {"spec": {"capability": {"cpu": amount(8)}}}}, "old": {"object": {"volcanoQueue": {"spec": {"capability": {"cpu": amount(90)}}}}}}
	check.deny == found("/spec/capability/nvidia.com~1gpu", "nvidia.com/gpu", 0) with input as object.union(examples.bad_volcano_queue, cpu)
	flavors := "/clusterQueue/spec/resourceGroups/0/flavors/0/resources/0/name"
	reserved := "/object/clusterQueue/status/flavorsReservation/0/resources/0/name"
	check.deny == set() with input as json.patch(examples.bad_cluster_queue, [
		{"op": "replace", "path": concat("", ["/object", flavors]), "value": "cpu"},
		{"op": "replace", "path": concat("", ["/old/object", flavors]), "value": "cpu"},
		{"op": "replace", "path": reserved, "value": "cpu"},
	])
}

test_a_limit_that_stays_is_good if {
	check.deny == set() with input as json.patch(examples.bad_quota, [{"op": "replace", "path": "/old/object/resourceQuota/spec/hard/requests.nvidia.com~1gpu", "value": amount(8)}])
}

test_only_the_use_of_the_same_flavor_and_resource_counts if {
	quotas := "/old/object/clusterQueue/spec/resourceGroups/0/flavors"
	kept := json.patch(examples.bad_cluster_queue, [{"op": "replace", "path": concat("", [quotas, "/0/resources/0/nominalQuota"]), "value": amount(8)}])
	check.deny == set() with input as json.patch(kept, [{"op": "replace", "path": concat("", [quotas, "/1/resources/0/nominalQuota"]), "value": amount(99)}])
	check.deny == set() with input as json.patch(kept, [{"op": "add", "path": concat("", [quotas, "/0/resources/1"]), "value": {"name": "amd.com/gpu", "nominalQuota": amount(99)}}])
	status := "/object/clusterQueue/status/flavorsReservation/0"
	check.deny == set() with input as json.patch(examples.bad_cluster_queue, [{"op": "replace", "path": concat("", [status, "/name"]), "value": "a100"}])
	check.deny == set() with input as json.patch(examples.bad_cluster_queue, [{"op": "replace", "path": concat("", [status, "/resources/0/name"]), "value": "amd.com/gpu"}])
}
