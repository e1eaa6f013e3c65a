package usher.checks.tenancy.critical_class_without_quota_test

import data.examples.checks.tenancy.critical_class_without_quota as examples
import data.usher.checks.tenancy.critical_class_without_quota as check

found(name) := {
	"path": "/spec/template/spec/priorityClassName",
	"message": $"GKE refuses the pod with the class {name}: no ResourceQuota of the namespace has a scope for this class",
	"remedy": $"add a ResourceQuota with hard pods and a scopeSelector of PriorityClass In {name}",
}

test_a_critical_class_without_a_quota_is_found if {
	check.deny == {found("system-node-critical")} with input as examples.bad_daemonset
	check.deny == {found("system-cluster-critical")} with input as examples.bad_daemonset_of_another_class
	check.deny == {found("system-cluster-critical")} with input as examples.bad_deployment
}

test_namespaces_with_a_quota_for_the_class_pass if {
	check.deny == set() with input as examples.good_daemonset
	check.deny == set() with input as examples.good_daemonset_of_the_system
}
