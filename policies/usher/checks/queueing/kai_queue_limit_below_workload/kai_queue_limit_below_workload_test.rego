package usher.checks.queueing.kai_queue_limit_below_workload_test

import data.examples.checks.queueing.kai_queue_limit_below_workload as examples
import data.usher.checks.queueing.kai_queue_limit_below_workload as check

found(queue, limit, who) := {{
	"path": "/metadata/labels/kai.scheduler~1queue",
	"message": $"KAI queue \"{queue}\" has a limit of {limit} GPUs, but {who}, so it never starts",
	"remedy": "ask for fewer GPUs, name another queue, or raise the limit",
}}

test_a_pod_above_the_limit_is_found if {
	check.deny == found("department", 8, "one pod asks for 16") with input as examples.bad_pod
	check.deny == found("small", "500m", "one pod asks for 0.75") with input as examples.bad_fraction
}

test_a_gang_above_the_limit_is_found if {
	check.deny == found("department", 8, "the pods of the gang ask together for 16") with input as examples.bad_gang
	check.deny == found("department", 8, "the pods of the gang ask together for 10") with input as examples.bad_ray_cluster
}

test_what_fits_the_limit_is_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_gang
}

test_a_limit_that_is_not_stated_is_0 if {
	check.deny == found("silent", 0, "one pod asks for 64") with input as examples.bad_silent
}

test_a_queue_without_a_limit_is_good if {
	check.deny == set() with input as examples.good_open
}

test_other_devices_do_not_count if {
	others := [
		{"route": "partition", "name": "nvidia.com/gpu", "path": "", "minimum": {"text": "99", "value": 99, "milli": 99000, "whole": true}},
		{"route": "extended resource", "name": "amd.com/gpu", "path": "", "minimum": {"text": "99", "value": 99, "milli": 99000, "whole": true}},
		{"route": "fraction annotation", "name": "gpu-memory", "path": "", "minimum": {"text": "99", "value": 99, "milli": 99000, "whole": true}},
		{"route": "device claim", "name": "gpu-fraction", "path": "", "minimum": {"text": "99", "value": 99, "milli": 99000, "whole": true}},
	]
	every other in others {
		check.deny == set() with input as json.patch(examples.good_pod, [{"op": "add", "path": "/podSets/0/requests/0", "value": other}])
		check.deny == set() with input as json.patch(examples.good_gang, [{"op": "add", "path": "/workload/totals/0", "value": other}])
	}
}

test_pods_that_do_not_wait_for_each_other_count_alone if {
	check.deny == set() with input as object.union(examples.bad_gang, {"workload": {"gang": {"wanted": false}}})
}

test_the_pods_of_a_job_do_not_wait_for_each_other if {
	check.deny == set() with input as object.union(examples.bad_gang, {"workload": {"group": "batch", "kind": "Job"}})
}

test_a_gang_that_starts_with_fewer_pods_is_good if {
	check.deny == set() with input as object.union(examples.bad_gang, {"workload": {"gang": {"minimum": 1}}})
}

above_quota(queue, quota) := {{
	"path": "/spec/template/metadata/labels/kai.scheduler~1queue",
	"message": $"KAI queue \"{queue}\" has a quota of {quota} GPUs, but one pod asks for 8, and pods that KAI-Scheduler does not evict never exceed a quota",
	"remedy": "ask for fewer GPUs, raise the quota, or let KAI-Scheduler evict the pods with kai.scheduler/preemptibility: preemptible",
}}

test_pods_that_are_not_evicted_stay_within_the_quota if {
	check.deny == above_quota("research", 4) with input as examples.bad_quota
	check.deny == above_quota("open", 0) with input as examples.bad_quota_of_0
}

test_pods_within_the_quota_or_that_are_evicted_are_good if {
	check.deny == set() with input as examples.good_within_quota
	check.deny == set() with input as examples.good_evicted
}

test_a_pod_above_limit_and_quota_is_found_once if {
	count(check.deny) == 1 with input as examples.bad_limit_and_quota
}
