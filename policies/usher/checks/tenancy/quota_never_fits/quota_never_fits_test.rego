package usher.checks.tenancy.quota_never_fits_test

import data.examples.checks.tenancy.quota_never_fits as examples
import data.usher.checks.tenancy.quota_never_fits as check

found(path, needs, resource, pods, quota, hard) := {{
	"path": path,
	"message": $"the workload needs {needs} of {resource}{pods} at once, but ResourceQuota {quota} never allows more than {hard}",
	"remedy": $"ask for at most {hard} of {resource} at once, or have the quota raised",
}}

limits(container) := $"{container}/resources/limits"

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

test_a_gang_that_never_starts_is_found if {
	check.deny == found(
		$"{limits(worker)}/nvidia.com~1gpu",
		"64",
		"requests.nvidia.com/gpu",
		" (8 Worker x 8)",
		"gpu-quota",
		"32",
	) with input as examples.bad_pytorchjob
}

test_one_pod_that_never_fits_is_found if {
	check.deny == found(
		$"{limits("/spec/containers/0")}/nvidia.com~1mig-1g.10gb",
		"8",
		"requests.nvidia.com/mig-1g.10gb",
		"",
		"gpu-quota",
		"7",
	) with input as examples.bad_pod_of_slices
	check.deny == found("", "1024Gi", "memory", "", "gpu-quota", "512Gi") with input as examples.bad_memory
}

test_a_quota_of_a_class_counts_its_pods if {
	check.deny == found(
		$"{limits("/spec/template/spec/containers/0")}/nvidia.com~1gpu",
		"16",
		"requests.nvidia.com/gpu",
		"",
		"batch-quota",
		"8",
	) with input as examples.bad_job_in_a_class
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.unknown == set() with input as examples.good_pytorchjob
}

test_pods_that_do_not_wait_for_each_other_may_run_in_turn if {
	check.deny == set() with input as examples.good_job_of_many_pods
}

test_other_namespaces_have_other_quotas if {
	check.deny == set() with input as examples.good_deployment_elsewhere
}

test_an_assumption_is_handed_on if {
	assumed := json.patch(examples.bad_memory, [{
		"op": "add",
		"path": "/cluster/resourceQuotas/shortages/0/assumption",
		"value": "its parts run at the same time",
	}])
	every finding in check.deny {
		finding.assumption == "its parts run at the same time"
	} with input as assumed
}

test_what_cannot_be_read_is_unknown if {
	document := object.union(examples.good_pytorchjob, {"cluster": {"resourceQuotas": {
		"unreadable": [{"of": "ResourceQuota odd", "field": "spec.hard", "reason": "is not an object"}],
		"doubts": [{"quota": "far", "path": "/spec"}],
	}}})
	check.unknown == {
		{
			"path": "/metadata/namespace",
			"reason": "usher does not compare spec.hard of ResourceQuota odd: is not an object",
		},
		{
			"path": "/spec",
			"reason": "usher does not know whether ResourceQuota far counts these pods: the facts of the cluster do not decide its scope",
		},
	} with input as document
}
