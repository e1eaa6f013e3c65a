package usher.checks.tenancy.quota_full_now_test

import data.examples.checks.tenancy.quota_full_now as examples
import data.usher.checks.tenancy.quota_full_now as check

found(container, needs) := {{
	"path": $"{container}/resources/limits/nvidia.com~1gpu",
	"message": $"the workload needs {needs} at once, but of the 32 that ResourceQuota gpu-quota allows, 8 are in use now",
	"remedy": "wait until other workloads of the namespace have ended",
	"assumption": "usher assumes that the use has not changed since the facts were read",
}}

template := "/spec/template/spec/containers/0"

test_what_does_not_fit_beside_the_others_is_found if {
	worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"
	check.deny == found(worker, "32 of requests.nvidia.com/gpu (4 Worker x 8)") with input as examples.bad_pytorchjob
	check.deny == found(template, "32 of requests.nvidia.com/gpu (4 pods x 8)") with input as examples.bad_job
	check.deny == found(template, "26 of requests.nvidia.com/gpu (26 pods x 1)") with input as examples.bad_deployment
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_of_what_is_there_nobody_knows_how_much_of_the_use_is_its_own if {
	check.deny == set() with input as examples.good_job_that_is_there
	update := object.union(examples.bad_job, {"review": {"operation": "UPDATE"}})
	check.deny == set() with input as update
}

test_on_creation_the_object_has_a_uid_already if {
	created := object.union(examples.good_job_that_is_there, {"review": {"operation": "CREATE"}})
	check.deny == found(template, "32 of requests.nvidia.com/gpu (4 pods x 8)") with input as created
}

test_a_pod_is_refused_at_once if {
	check.deny == set() with input as examples.good_pod
}

test_what_a_controller_makes_is_told_of_its_owner if {
	owned := object.union(examples.bad_job, {"workload": {"owned": true}})
	check.deny == set() with input as owned
}

test_what_never_fits_is_for_another_check if {
	document := json.patch(
		examples.bad_job,
		[{"op": "replace", "path": "/cluster/resourceQuotas/shortages/0/verdict", "value": "never"}],
	)
	check.deny == set() with input as document
}

test_what_a_controller_makes_is_not_told_on_creation_either if {
	created := object.union(examples.bad_job, {"workload": {"owned": true}, "review": {"operation": "CREATE"}})
	check.deny == set() with input as created
}
