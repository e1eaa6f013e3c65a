# METADATA
# title: Hide GPUs from pods that ask for none
# description: |
#   Most CUDA images set NVIDIA_VISIBLE_DEVICES to `all`, and NVIDIA's container runtime then hands over every GPU of
#   the node, asked for or not. In pods that ask for no accelerator every container is given `void`, which stands for
#   none. Containers that ask are left to the device plugin, and those that set the variable themselves are judged by
#   a check. Only Pods are changed, never templates, so that what is deployed stays what its author wrote.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
#     description: NVIDIA on the variables that its container runtime reads
# schemas:
#   - input: schema.input
# custom:
#   code: USM201
#   silent: true
package usher.mutations.isolation.visible_devices_void

intents contains intent if {
	input.workload.kind == "Pod"
	input.workload.group == ""
	not input.site.visibleDevicesAllowed
	some pod_set in input.podSets
	not pod_set.asksAccelerators
	pod_set.deviceClaims == 0
	some container in pod_set.containers
	container.type != "ephemeral container"
	not container.environment.NVIDIA_VISIBLE_DEVICES

	intent := {
		"at": container.path,
		"field": "environment",
		"value": {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
		"reason": "the pod asks for no GPU, but its images may switch all of them on",
	}
}
