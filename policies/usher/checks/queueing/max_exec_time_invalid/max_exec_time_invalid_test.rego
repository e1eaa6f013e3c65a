package usher.checks.queueing.max_exec_time_invalid_test

import data.examples.checks.queueing.max_exec_time_invalid as examples
import data.usher.checks.queueing.max_exec_time_invalid as check

found(path, seconds, kind) := {{
	"path": $"{path}/labels/kueue.x-k8s.io~1max-exec-time-seconds",
	"message": $"kueue.x-k8s.io/max-exec-time-seconds {seconds} is not a whole number of at least 1, so Kueue refuses this {kind}",
	"remedy": "write the number of seconds, without a unit",
}}

test_a_time_with_a_unit_is_found if {
	check.deny == found("/metadata", `"2h"`, "PyTorchJob") with input as examples.bad_pytorchjob
}

test_no_time_at_all_is_found if {
	check.deny == found("/metadata", `"0"`, "Pod") with input as examples.bad_pod
}

test_it_is_found_where_kueue_reads_it if {
	check.deny == found("/spec/jobTemplate/metadata", `"1.5"`, "CronJob") with input as examples.bad_cronjob
}

test_a_number_of_seconds_is_good if {
	check.deny == set() with input as examples.good_job
	one := json.patch(examples.good_job, [{
		"op": "replace",
		"path": "/workload/labels/kueue.x-k8s.io~1max-exec-time-seconds",
		"value": "1",
	}])
	check.deny == set() with input as one
}

test_a_label_that_kueue_does_not_read_does_no_harm if {
	check.deny == set() with input as examples.good_cronjob
}

test_what_runs_for_ever_is_left_alone if {
	check.deny == set() with input as examples.good_deployment
	every kind in ["StatefulSet", "LeaderWorkerSet"] {
		check.deny == set() with input as object.union(examples.good_deployment, {"workload": {"kind": kind}})
	}
}
