package usher.checks.objects.definition_refuses_test

import data.examples.checks.objects.definition_refuses as examples
import data.usher.checks.objects.definition_refuses as check

recorded(path, message, remedy) := {
	"path": path,
	"message": message,
	"remedy": remedy,
	"assumption": "usher assumes that the cluster has the recorded release of the definition",
}

test_a_number_beyond_its_limit_is_found if {
	check.deny == {recorded(
		"/spec/weight",
		"NodePool has 200 at spec.weight, where the API server takes at most 100 (kubernetes-sigs/karpenter@2266468)",
		"write at most 100",
	)} with input as examples.bad_node_pool
}

test_a_broken_rule_is_found if {
	check.deny == {recorded(
		"/spec",
		"JobSet breaks a rule of the API server at spec: StartupPolicy and DependsOn APIs are mutually exclusive (kubernetes-sigs/jobset@08dfbdf)",
		"correct spec",
	)} with input as examples.bad_job_set
}

test_a_limit_of_kubernetes_itself_needs_no_assumption if {
	check.deny == {{
		"path": "/spec/template/spec/topologySpreadConstraints/0",
		"message": "Deployment lacks whenUnsatisfiable at spec.template.spec.topologySpreadConstraints[0], which the API server requires",
		"remedy": "add whenUnsatisfiable at spec.template.spec.topologySpreadConstraints[0]",
	}} with input as examples.bad_deployment
}

test_objects_within_their_limits_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_node_pool)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_job_set)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment)
}
