# METADATA
# title: The runtime class of GPUs comes with a request for them
# description: |
#   Runtime classes such as nvidia run a container through NVIDIA's container runtime, which gives it the GPUs that
#   NVIDIA_VISIBLE_DEVICES names. Most images for GPUs set that variable to `all`, and no manifest shows it; so a pod of
#   such a class that asks for no accelerator sees every GPU of its node, as far as the runtime honours the variable,
#   which it does by default. Namespaces of monitoring, which need to see all GPUs, can be named in usher.yaml under
#   `isolation.visibleDevices`. Pods whose device claims are not known are left open.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
#     description: NVIDIA on the variables that its container runtime reads
#   - ref: https://kubernetes.io/docs/concepts/containers/runtime-class/
#     description: Kubernetes on runtime classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH202
#   about: ordinary pods
#   severity: medium
#   why: It may see every GPU of its node, and nobody counts one.
#   closes: [B3]
#   parameters:
#     runtimeClasses:
#       default: [nvidia, nvidia-cdi, nvidia-legacy]
#       description: Names of the RuntimeClasses that give access to GPUs.
#   remediation: |
#     Remove runtimeClassName from pods that need no GPU; of a job, from the templates of its launcher or head alone.
#     Where the GPU is needed, ask for it in limits.
package usher.checks.isolation.runtime_class_without_request

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in _in_class
	not _may_ask(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "runtimeClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has the runtime class {pod_set.runtimeClassName} and asks for no accelerator, so its image decides which GPUs it sees",
		"remedy": "remove runtimeClassName, or ask for the GPUs in limits",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "runtimeClassName"),
	"reason": $"whether {workload.pod_set_name(pod_set)} asks for the GPUs of its runtime class {pod_set.runtimeClassName} depends on a device claim or resource that is not known",
} if {
	some pod_set in _in_class
	_may_ask(pod_set)
}

_in_class := [pod_set |
	not isolation.may_see_all_devices
	some pod_set in workload.ordinary_pod_sets
	pod_set.runtimeClassName in parameters.isolation.runtime_class_without_request.runtimeClasses
]

_may_ask(pod_set) if pod_set.deviceClaims > 0

_may_ask(pod_set) if {
	some container in pod_set.containers
	container.lookalikes
}
