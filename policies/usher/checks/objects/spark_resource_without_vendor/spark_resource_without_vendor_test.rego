package usher.checks.objects.spark_resource_without_vendor_test

import data.examples.checks.objects.spark_resource_without_vendor as examples
import data.usher.checks.objects.spark_resource_without_vendor as check

found(path) := {{
	"path": $"{path}/sparkConf/spark.executor.resource.gpu.amount",
	"message": "spark.executor.resource.gpu.amount asks for a resource without spark.executor.resource.gpu.vendor, and Spark on Kubernetes refuses that",
	"remedy": "set spark.executor.resource.gpu.vendor, for example to nvidia.com",
}}

test_a_resource_without_a_vendor_is_found if {
	check.deny == found("/spec") with input as examples.bad_executor
	check.deny == found("/spec") with input as examples.bad_both
	check.deny == found("/spec/template") with input as examples.bad_schedule
}

test_a_vendor_and_no_resource_are_good if {
	check.deny == set() with input as examples.good_vendor
	check.deny == set() with input as examples.good_none
}
