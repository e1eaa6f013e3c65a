package usher.checks.queueing.claims_that_kueue_cannot_count_test

import data.examples.checks.queueing.claims_that_kueue_cannot_count as examples
import data.usher.checks.queueing.claims_that_kueue_cannot_count as check

found(path, name, claim) := {{
	"path": $"{path}/resourceClaims/0/resourceClaimName",
	"message": $"{name} names ResourceClaim {claim} directly; Kueue cannot count it, so it never admits the workload",
	"remedy": "name a ResourceClaimTemplate with resourceClaimTemplateName",
}}

unknown(path, name) := {{
	"path": $"{path}/resourceClaims",
	"reason": $"usher does not know whether Kueue counts the device claims of {name}; resources.deviceClassMappings of Kueue's configuration or the parameter deviceClassesMapped would say it",
}}

mapped := {"site": {"parameters": {"queueing/claims_that_kueue_cannot_count": {"deviceClassesMapped": true}}}}

test_a_claim_that_is_named_directly_is_found if {
	check.deny == found("/spec/template/spec", "the pod", `"big-gpu"`) with input as examples.bad_job
	check.deny == found("/spec", "the pod", `"my-gpu"`) with input as examples.bad_pod
	check.deny == found(
		"/spec/replicatedJobs/1/template/spec/template/spec",
		"workers",
		`"shared-gpus"`,
	) with input as examples.bad_jobset
	check.unknown == set() with input as examples.bad_job
}

test_it_is_found_where_device_classes_are_mapped_as_well if {
	check.deny == found("/spec", "the pod", `"my-gpu"`) with input as object.union(examples.bad_pod, mapped)
}

test_a_claim_from_a_template_is_unknown if {
	check.deny == set() with input as examples.unknown_job
	check.unknown == unknown("/spec/template/spec", "the pod") with input as examples.unknown_job
}

test_beside_one_that_is_named_directly_it_is_unknown_too if {
	check.unknown == unknown(
		"/spec/replicatedJobs/1/template/spec/template/spec",
		"workers",
	) with input as examples.bad_jobset
}

test_with_mapped_device_classes_it_is_good if {
	check.unknown == set() with input as object.union(examples.unknown_job, mapped)
}

# What a claim of the template is for, and whether Kueue's configuration among the facts of the cluster maps it.
claimed(name, mapped_to_a_resource) := {"cluster": {"kueue": {"configurationKnown": true, "claimedClasses": [{
	"podSet": "/spec/template",
	"name": name,
	"mapped": mapped_to_a_resource,
}]}}}

test_kueues_own_configuration_tells_which_classes_are_mapped if {
	of_mapped := object.union(examples.unknown_job, claimed("gpu.nvidia.com", true))
	check.deny == set() with input as of_mapped
	check.unknown == set() with input as of_mapped
	of_another := object.union(examples.unknown_job, claimed("mig.nvidia.com", false))
	check.deny == {{
		"path": "/spec/template/spec/resourceClaims",
		"message": `the pod claims devices of class "mig.nvidia.com", but Kueue's configuration does not map this class, so Kueue cannot count them`,
		"remedy": "have the class added to resources.deviceClassMappings of Kueue's configuration",
	}} with input as of_another
	check.unknown == set() with input as of_another
}

test_the_parameter_counts_before_the_configuration_of_the_cluster if {
	of_another := object.union(examples.unknown_job, claimed("mig.nvidia.com", false))
	check.deny == set() with input as object.union(of_another, mapped)
}

test_a_pod_in_no_queue_is_good if {
	check.deny == set() with input as examples.good_pod
	check.unknown == set() with input as examples.good_pod
}

test_a_workload_without_claims_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_pod, {"workload": {"owned": true}})
	check.unknown == set() with input as object.union(examples.unknown_job, {"workload": {"owned": true}})
}
