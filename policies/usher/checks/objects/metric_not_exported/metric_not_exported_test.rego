package usher.checks.objects.metric_not_exported_test

import data.examples.checks.objects.metric_not_exported as examples
import data.usher.checks.objects.metric_not_exported as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_a_name_without_its_colon_is_found_in_a_query if {
	check.deny == {found(
		"/spec/triggers/0/metadata/query",
		"ScaledObject scales by vllm_num_requests_waiting, which the server does not export",
		"write vllm:num_requests_waiting",
	)} with input as examples.bad_scaledobject
}

test_a_misspelt_metric_is_found if {
	check.deny == {found(
		"/spec/triggers/0/metadata/query",
		"ScaledObject scales by vllm:num_request_waiting, which the server does not export",
		"did you mean vllm:num_requests_waiting?",
	)} with input as examples.bad_scaledobject_misspelt
}

test_a_metric_of_a_former_version_is_found if {
	check.deny == {found(
		"/spec/metrics/0/pods/metric/name",
		"HorizontalPodAutoscaler scales by llamacpp:kv_cache_usage_ratio, which the server does not export",
		"use llamacpp:requests_deferred",
	)} with input as examples.bad_horizontalpodautoscaler
}

test_known_and_renamed_metrics_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_scaledobject)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_horizontalpodautoscaler)
}
