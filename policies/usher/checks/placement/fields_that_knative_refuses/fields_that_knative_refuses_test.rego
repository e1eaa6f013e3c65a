package usher.checks.placement.fields_that_knative_refuses_test

import data.examples.checks.placement.fields_that_knative_refuses as examples
import data.usher.checks.placement.fields_that_knative_refuses as check

found_in(path, name, field, flag) := {
	"path": path,
	"message": $"Knative refuses {field} of {name} while the feature flag kubernetes.podspec-{flag} is off",
	"remedy": $"remove {field}, or turn on kubernetes.podspec-{flag} in the ConfigMap config-features",
}

found(path, field, flag) := found_in(path, "the pod", field, flag)

unsure := {"assumption": "usher does not know which feature flags of Knative are on"}

test_scheduling_fields_are_found if {
	check.deny == {
		object.union(found("/spec/template/spec/tolerations", "tolerations", "tolerations"), unsure),
		object.union(found("/spec/template/spec/nodeSelector", "nodeSelector", "nodeselector"), unsure),
	} with input as examples.bad_service
}

test_every_field_has_its_flag if {
	check.deny == {
		object.union(found("/spec/template/spec/affinity", "affinity", "affinity"), unsure),
		object.union(
			found(
				"/spec/template/spec/topologySpreadConstraints",
				"topologySpreadConstraints",
				"topologyspreadconstraints",
			),
			unsure,
		),
		object.union(found("/spec/template/spec/schedulerName", "schedulerName", "schedulername"), unsure),
	} with input as examples.bad_configuration
	check.deny == {
		object.union(found("/spec/priorityClassName", "priorityClassName", "priorityclassname"), unsure),
		object.union(found("/spec/runtimeClassName", "runtimeClassName", "runtimeclassname"), unsure),
	} with input as examples.bad_revision
}

test_once_the_flags_are_named_the_rest_is_certain if {
	named := {"site": {"parameters": {"placement/fields_that_knative_refuses": {"flags": ["kubernetes.podspec-tolerations"]}}}}
	check.deny == {found(
		"/spec/template/spec/nodeSelector",
		"nodeSelector",
		"nodeselector",
	)} with input as object.union(examples.bad_service, named)
}

test_fields_that_it_takes_are_good if {
	check.deny == set() with input as examples.good_service
}

test_other_kinds_may_have_them if {
	check.deny == set() with input as examples.good_deployment
}

test_what_kserve_hands_to_knative_is_found if {
	check.deny == {object.union(
		found_in("/spec/predictor/tolerations", "predictor", "tolerations", "tolerations"),
		unsure,
	)} with input as examples.bad_inference_service
}

test_an_inference_service_without_a_mode_is_skipped if {
	check.deny == set() with input as examples.good_inference_service_without_a_mode
}

test_deployments_of_kserve_may_have_them if {
	check.deny == set() with input as examples.good_inference_service
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_service, {"workload": {"owned": true}})
}
