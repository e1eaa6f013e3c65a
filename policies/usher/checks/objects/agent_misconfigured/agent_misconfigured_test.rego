package usher.checks.objects.agent_misconfigured_test

import data.examples.checks.objects.agent_misconfigured as examples
import data.usher.checks.objects.agent_misconfigured as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_an_exporter_without_the_socket_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/image",
		"DaemonSet runs nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04 without the host path /var/lib/kubelet/pod-resources, so its metrics name no pods",
		"mount the host path /var/lib/kubelet/pod-resources at the same place",
	)} with input as examples.bad_daemonset
}

test_device_plugins_without_the_socket_are_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/image",
		"DaemonSet runs nvcr.io/nvidia/k8s-device-plugin:v0.17.1 without the host path /var/lib/kubelet/device-plugins, so the kubelet gets no devices from it",
		"mount the host path /var/lib/kubelet/device-plugins at the same place",
	)} with input as examples.bad_daemonset_of_a_device_plugin
	count(check.deny) == 1 with input as examples.bad_daemonset_of_amd
}

test_agents_with_the_socket_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_daemonset)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_daemonset_of_a_device_plugin)
}
