package usher.checks.objects.metric_of_no_such_resource_test

import data.examples.checks.objects.metric_of_no_such_resource as examples
import data.usher.checks.objects.metric_of_no_such_resource as check

test_a_metric_that_nothing_reports_is_found if {
	check.deny == {{"path": "/spec/metrics/1/resource/name", "message": `no metric exists for the resource "amd.com/gpu", only for cpu and memory, so the autoscaler never gets a value`, "remedy": "use a metric of the type Pods or External, for example the requests that wait, or KEDA with a query to Prometheus"}} with input as examples.bad_beside_cpu
	check.deny == {{"path": "/spec/metrics/0/resource/name", "message": `no metric exists for the resource "nvidia.com/gpu", only for cpu and memory, so the autoscaler never gets a value`, "remedy": "use a metric of the type Pods or External, for example the requests that wait, or KEDA with a query to Prometheus"}} with input as examples.bad_gpu
	check.deny == {{"path": "/spec/metrics/0/containerResource/name", "message": `no metric exists for the resource "nvidia.com/gpu", only for cpu and memory, so the autoscaler never gets a value`, "remedy": "use a metric of the type Pods or External, for example the requests that wait, or KEDA with a query to Prometheus"}} with input as examples.bad_of_a_container
}

test_measured_resources_and_other_metrics_are_good if {
	check.deny == set() with input as examples.good_cpu
	check.deny == set() with input as examples.good_of_pods
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_beside_cpu, {"object": {"horizontalPodAutoscaler": {"metadata": {"ownerReferences": [{}]}}}})
}
