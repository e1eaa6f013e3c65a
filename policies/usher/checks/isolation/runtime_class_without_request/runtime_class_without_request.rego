# METADATA
# title: Pods with a GPU RuntimeClass ask for an accelerator
# description: |
#   RuntimeClasses like nvidia run a container through NVIDIA's container runtime. The runtime gives the container
#   the GPUs that NVIDIA_VISIBLE_DEVICES names. Most GPU images set this variable to `all`, and no manifest shows it. So
#   a pod with this RuntimeClass sees every GPU of its node, even if it asks for no accelerator. This holds if the
#   runtime reads the variable, which it does by default. To allow this in monitoring namespaces, which need to see all
#   GPUs, name them in usher.yaml under `isolation.visibleDevices`. If a pod has device claims that usher cannot read,
#   the result is unknown.
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
#   why: The pod may see every GPU of its node, and no quota counts them.
#   closes: [B3]
#   parameters:
#     runtimeClasses:
#       default: [nvidia, nvidia-cdi, nvidia-legacy]
#       description: Names of the RuntimeClasses that give access to GPUs.
#   remediation: |
#     Remove runtimeClassName from pods that need no GPU. In a job, this is often only the template of the launcher or
#     the head. If the pod needs a GPU, ask for it in limits.
package usher.checks.isolation.runtime_class_without_request

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in _in_class
	not _may_ask(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "runtimeClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has the RuntimeClass {pod_set.runtimeClassName} but asks for no accelerator, so its image decides which GPUs it sees",
		"remedy": "remove runtimeClassName, or ask for the GPUs in limits",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "runtimeClassName"),
	"reason": $"usher does not know one of the device claims or resources of {workload.pod_set_name(pod_set)}, so the pod may ask for the GPUs of its RuntimeClass {pod_set.runtimeClassName}",
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
