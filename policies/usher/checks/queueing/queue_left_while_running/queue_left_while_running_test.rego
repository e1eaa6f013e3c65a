package usher.checks.queueing.queue_left_while_running_test

import data.examples.checks.queueing.queue_left_while_running as examples
import data.usher.checks.queueing.queue_left_while_running as check

found(kind) := {{
	"path": "/metadata/labels",
	"message": $"the running {kind} leaves queue \"research\", and Kueue before 0.18.6 stops counting its pods",
	"remedy": "keep the label kueue.x-k8s.io/queue-name",
}}

test_ray_and_spark_keep_their_queue if {
	check.deny == found("RayJob") with input as examples.bad_rayjob
	check.deny == found("RayCluster") with input as examples.bad_raycluster
	check.deny == found("RayService") with input as examples.bad_rayservice
	check.deny == found("SparkApplication") with input as examples.bad_spark
}

test_an_empty_label_is_no_queue if {
	emptied := json.patch(examples.bad_rayjob, [{"op": "add", "path": "/workload/labels/kueue.x-k8s.io~1queue-name", "value": ""}])
	check.deny == found("RayJob") with input as emptied
}

test_a_suspended_job_may_leave if {
	check.deny == set() with input as examples.good_suspended
	check.deny == set() with input as object.union(examples.bad_rayjob, {"old": {"suspended": true}})
}

test_another_check_finds_a_job_that_is_suspended_at_once if {
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"suspended": true}})
}

test_kueue_refuses_it_for_other_kinds if {
	check.deny == set() with input as examples.good_job
}

test_a_job_without_a_queue_has_none_to_leave if {
	emptied := json.patch(examples.bad_rayjob, [{"op": "replace", "path": "/old/labels/kueue.x-k8s.io~1queue-name", "value": ""}])
	check.deny == set() with input as emptied
}

test_some_identities_may if {
	every identity in ["administrators", "controllers", "queue-operators"] {
		check.deny == set() with input as object.union(examples.bad_rayjob, {"review": {"by": [identity]}})
			with data.usher.lib.parameters.queueing.queue_left_while_running.identities as ["queue-operators"]
	}
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"owned": true}})
}

test_kinds_that_kueue_does_not_queue_may_lose_the_label if {
	check.deny == set() with input as object.union(examples.bad_spark, {"workload": {"kind": "ScheduledSparkApplication"}})
}

test_a_change_of_the_queue_is_for_kueue_to_refuse if {
	moved := json.patch(examples.bad_rayjob, [{"op": "add", "path": "/workload/labels/kueue.x-k8s.io~1queue-name", "value": "urgent"}])
	check.deny == set() with input as moved
}
