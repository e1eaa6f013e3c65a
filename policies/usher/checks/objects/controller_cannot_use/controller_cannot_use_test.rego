package usher.checks.objects.controller_cannot_use_test

import data.examples.checks.objects.controller_cannot_use as examples
import data.usher.checks.objects.controller_cannot_use as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_a_trigger_without_a_field_that_it_needs_is_found if {
	check.deny == {found(
		"/spec/triggers/0/metadata",
		"ScaledObject has a trigger prometheus at spec.triggers[0] without serverAddress in its metadata, so KEDA makes no HPA",
		"rename prometheusUrl to serverAddress",
	)} with input as examples.bad_scaledobject
}

test_a_misspelt_trigger_is_found if {
	check.deny == {found(
		"/spec/triggers/0/type",
		"ScaledObject has a trigger of the type promtheus at spec.triggers[0], which KEDA does not know",
		"did you mean prometheus?",
	)} with input as examples.bad_scaledobject_type
}

test_gpus_of_spark_without_a_script_are_found if {
	check.deny == {found(
		"/spec/sparkConf/spark.executor.resource.gpu.amount",
		"SparkApplication sets spark.executor.resource.gpu.amount without spark.executor.resource.gpu.discoveryScript: Spark does not start a process that cannot find its GPUs",
		"set spark.executor.resource.gpu.discoveryScript, for example to /opt/spark/examples/src/main/scripts/getGpusResources.sh",
	)} with input as examples.bad_sparkapplication
}

test_triggers_with_all_fields_pass if {
	check.deny == set() with input as object.get(examples, "good_scaledobject", {"unreadKeys": []})
	check.deny == set() with input as object.get(examples, "good_scaledobject_by_variable", {"unreadKeys": []})
}

test_a_cooldown_that_never_counts_is_found if {
	check.deny == {found(
		"/spec/cooldownPeriod",
		"ScaledObject sets cooldownPeriod to 1800, which counts only before KEDA scales to zero, and minReplicaCount keeps it above",
		"set behavior.scaleDown.stabilizationWindowSeconds in advanced.horizontalPodAutoscalerConfig",
	)} with input as examples.bad_scaledobject_cooldown
	check.deny == set() with input as object.get(examples, "good_scaledobject_to_zero", {"unreadKeys": []})
}
