package usher.checks.isolation.device_injector_annotations_test

import data.examples.checks.isolation.device_injector_annotations as examples
import data.usher.checks.isolation.device_injector_annotations as check

finding(path, name, key, given) := {
	"path": path,
	"message": $"{name} takes {given} from its node by the annotation {key}, which bypasses requests and quotas",
	"remedy": "remove the annotation, and ask for devices in limits",
}

test_devices_and_mounts_are_found if {
	check.deny == {
		finding(
			"/metadata/annotations/devices.noderesource.dev~1pod",
			"the pod",
			"devices.noderesource.dev/pod",
			`"- path: /dev/nvidia0\n"`,
		),
		finding(
			"/metadata/annotations/mounts.noderesource.dev~1container.jupyter",
			"the pod",
			"mounts.noderesource.dev/container.jupyter",
			`"- source: /var/run\n"`,
		),
	} with input as examples.bad_pod
}

test_devices_by_their_kind_are_found if {
	check.deny == {
		finding(
			"/spec/template/metadata/annotations/cdi-devices.nri.io",
			"the pod",
			"cdi-devices.nri.io",
			`"[gpu.intel.com/gpu=all]"`,
		),
		finding(
			"/spec/template/metadata/annotations/cdi-devices.noderesource.dev~1container.transcode",
			"the pod",
			"cdi-devices.noderesource.dev/container.transcode",
			`"[gpu.intel.com/gpu=1]"`,
		),
	} with input as examples.bad_deployment
}

test_the_older_domains_are_found if {
	check.deny == {
		finding(
			"/spec/rayClusterSpec/headGroupSpec/template/metadata/annotations/devices.nri.io~1container.head",
			"head",
			"devices.nri.io/container.head",
			`"[{path: /dev/kfd}]"`,
		),
		finding(
			"/spec/rayClusterSpec/headGroupSpec/template/metadata/annotations/mounts.nri.io",
			"head",
			"mounts.nri.io",
			`"[{source: /}]"`,
		),
	} with input as examples.bad_rayjob
}

test_plugins_for_cdi_and_networks_are_found if {
	check.deny == {
		finding(
			"/metadata/annotations/cdi.nri.io~1container.jupyter",
			"the pod",
			"cdi.nri.io/container.jupyter",
			`"nvidia.com/gpu=all"`,
		),
		finding("/metadata/annotations/netdevices.nri.io", "the pod", "netdevices.nri.io", `"- name: enp2s2f0\n"`),
	} with input as examples.bad_pod_of_other_plugins
}

test_other_domains_are_good if {
	check.deny == set() with input as examples.good_pod
}

test_monitoring_and_system_namespaces_may_take_them if {
	check.deny == set() with input as examples.good_agent
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"visibleDevicesAllowed": true}})
}

test_devices_by_an_annotation_of_crio_are_found if {
	check.deny == {finding(
		"/metadata/annotations/io.kubernetes.cri-o.Devices",
		"the pod",
		"io.kubernetes.cri-o.Devices",
		`"/dev/fuse,/dev/nvidia0:/dev/nvidia0:rw"`,
	)} with input as examples.bad_pod_on_crio
	check.deny == set() with input as examples.good_builder
}
