package usher.checks.isolation.inline_csi_driver_not_listed_test

import data.examples.checks.isolation.inline_csi_driver_not_listed as examples
import data.usher.checks.isolation.inline_csi_driver_not_listed as check

finding(path, name, driver) := {
	"path": path,
	"message": $"{name} has a volume of the CSI driver {driver}, but this driver is not in the list of allowed drivers",
	"remedy": "use a volume claim, or have the driver listed in usher.yaml",
}

test_a_driver_that_is_not_listed_is_found_among_other_volumes if {
	check.deny == {finding("/spec/volumes/1/csi/driver", "the pod", `"hostpath.csi.k8s.io"`)} with input as examples.bad_pod
}

test_it_is_found_in_the_templates_of_other_kinds if {
	check.deny == {finding(
		"/spec/template/spec/volumes/0/csi/driver",
		"the pod",
		`"devices.csi.example.com"`,
	)} with input as examples.bad_statefulset
	check.deny == {finding(
		"/spec/tfReplicaSpecs/Worker/template/spec/volumes/0/csi/driver",
		"Worker",
		`"image.csi.example.com"`,
	)} with input as examples.bad_tfjob
}

test_known_drivers_and_volume_claims_are_good if {
	check.deny == set() with input as examples.good_job
}

test_system_namespaces_may_use_any_driver if {
	check.deny == set() with input as examples.good_agent
	check.deny == {finding("/spec/volumes/0/csi/driver", "the pod", `"hostpath.csi.k8s.io"`)} with input as object.union(
		examples.good_agent,
		{"site": {"systemNamespace": false}},
	)
}

test_usher_yaml_lists_the_drivers if {
	other := {"site": {"parameters": {"isolation/inline_csi_driver_not_listed": {"drivers": ["hostpath.csi.k8s.io"]}}}}
	check.deny == set() with input as object.union(examples.bad_pod, other)
	check.deny == {finding(
		"/spec/template/spec/volumes/0/csi/driver",
		"the pod",
		`"gcsfuse.csi.storage.gke.io"`,
	)} with input as object.union(examples.good_job, other)
}
