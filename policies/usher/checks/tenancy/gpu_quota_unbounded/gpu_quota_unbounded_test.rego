package usher.checks.tenancy.gpu_quota_unbounded_test

import data.examples.checks.tenancy.gpu_quota_unbounded as examples
import data.usher.checks.tenancy.gpu_quota_unbounded as check

found(reason) := {{
	"path": "",
	"message": $"the pods have no bound ({reason}), so usher charges quota research of usher.yaml pod by pod and may refuse the last pods",
	"remedy": "set a bound, for example maxReplicas, parallelism or a number of devices",
}}

test_a_workload_without_bound_is_found_with_the_reason if {
	check.deny == found("one pod on every node that fits") with input as examples.bad_daemon_set
	check.deny == found("concurrencyPolicy Allow lets runs overlap") with input as examples.bad_cron_job
	check.deny == found("no autoscaling.knative.dev/max-scale bounds what Knative makes") with input as examples.bad_knative_service
}

test_a_workload_with_a_bound_is_good if {
	check.deny == set() with input as examples.good_cron_job
	check.deny == set() with input as examples.good_daemon_set_without_accelerators
}

test_a_workload_with_a_bound_under_a_quota_that_it_exceeds_is_another_checks_matter if {
	document := json.patch(examples.bad_daemon_set, [{"op": "remove", "path": "/cluster/gpuQuota/unbounded"}])
	check.deny == set() with input as document
}

test_a_pod_without_bound_is_another_checks_matter if {
	document := json.patch(examples.bad_daemon_set, [{"op": "replace", "path": "/workload/kind", "value": "Pod"}])
	check.deny == set() with input as document
}
