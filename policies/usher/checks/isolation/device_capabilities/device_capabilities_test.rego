package usher.checks.isolation.device_capabilities_test

import data.examples.checks.isolation.device_capabilities as examples
import data.usher.checks.isolation.device_capabilities as check

finding(path, name, capability) := {
	"path": path,
	"message": $"{name} has the capability {capability}, so it can reach devices of its node that it did not ask for",
	"remedy": "remove the capability",
}

test_capabilities_of_every_container_are_read if {
	check.deny == {
		finding("/spec/initContainers/0/securityContext/capabilities/add/1", "sidecar mount", `"SYS_ADMIN"`),
		finding(
			"/spec/ephemeralContainers/0/securityContext/capabilities/add/0",
			"ephemeral container debugger",
			`"all"`,
		),
	} with input as examples.bad_pod
}

test_names_count_with_their_prefix_and_in_lower_case if {
	check.deny == {finding(
		"/spec/template/spec/containers/0/securityContext/capabilities/add/0",
		"container store",
		`"CAP_SYS_RAWIO"`,
	)} with input as examples.bad_statefulset
	check.deny == {finding(
		"/spec/replicatedJobs/0/template/spec/template/spec/containers/0/securityContext/capabilities/add/0",
		"container train of workers",
		`"cap_mknod"`,
	)} with input as examples.bad_jobset
}

test_modules_and_handles_of_files_lead_to_the_node if {
	check.deny == {
		finding("/spec/containers/0/securityContext/capabilities/add/0", "container jupyter", `"SYS_MODULE"`),
		finding("/spec/containers/0/securityContext/capabilities/add/1", "container jupyter", `"DAC_READ_SEARCH"`),
	} with input as examples.bad_module_loader
}

test_other_capabilities_and_dropped_ones_are_good if {
	check.deny == set() with input as examples.good_rdma_job
}

test_a_privileged_container_has_them_anyhow if {
	check.deny == set() with input as examples.good_privileged_pod
}

test_system_namespaces_may_have_them if {
	check.deny == set() with input as examples.good_exporter
	check.deny == {finding(
		"/spec/template/spec/containers/0/securityContext/capabilities/add/0",
		"container exporter",
		`"SYS_ADMIN"`,
	)} with input as object.union(
		examples.good_exporter,
		{"site": {"systemNamespace": false}},
	)
}

test_usher_yaml_says_which_count if {
	other := {"site": {"parameters": {"isolation/device_capabilities": {"capabilities": ["NET_ADMIN"]}}}}
	check.deny == {finding(
		"/spec/template/spec/containers/0/securityContext/capabilities/add/1",
		"container train",
		`"NET_ADMIN"`,
	)} with input as object.union(examples.good_rdma_job, other)
	check.deny == set() with input as object.union(examples.bad_pod, other)
}
