# METADATA
# title: Containers with accelerators know where their variables come from
# description: |
#   `envFrom` brings every entry of a ConfigMap or a Secret. If one is named NVIDIA_VISIBLE_DEVICES, it overrides the
#   devices that the device plugin assigns, so the container may get devices of other pods. Of a cluster usher knows only
#   the names of ConfigMaps, and it never reads Secrets, so it cannot tell which variables come.
#
#   Most workloads take tokens and settings from `envFrom`, and hardly any of them has an entry of this name. So the
#   check is only a note: it says which containers a site depends on. It skips containers without accelerators: in their
#   pods the webhook sets NVIDIA_VISIBLE_DEVICES to `void`, and this entry wins over `envFrom`. It also skips prefixes
#   that do not begin one of the names. To close the way for good, let the container runtime ignore the variable
#   (accept-nvidia-visible-devices-envvar-when-unprivileged=false), which NVIDIA's operator can set.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-pod-configmap/#configure-all-key-value-pairs-in-a-configmap-as-container-environment-variables
#     description: Kubernetes on envFrom
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html
#     description: NVIDIA on the variables of its container toolkit
# schemas:
#   - input: schema.input
# custom:
#   code: USH219
#   about: accelerator pods
#   severity: low
#   strict_only: Most containers that it names take a token from a Secret, which is harmless.
#   why: A ConfigMap without a review can give the container GPUs of other pods.
#   closes: [B1]
#   remediation: |
#     Name the variables one by one in env, with valueFrom. Or let the container runtime ignore NVIDIA_VISIBLE_DEVICES.
package usher.checks.isolation.device_variables_from_elsewhere

import data.usher.lib.isolation
import data.usher.lib.workload

deny contains finding if {
	not isolation.may_see_all_devices
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	_has_devices(container)
	some source in container.environmentSources
	not source.variables
	names := [name |
		some name in isolation.device_variables
		startswith(name, object.get(source, "prefix", ""))
		not container.environment[name]
	]
	names != []

	finding := {
		"path": source.path,
		"message": $"{workload.container_name(pod_set, container)} takes variables from an object that usher cannot read, and one of them may be {_example(names)}",
		"remedy": "name the variables one by one in env",
	}
}

_has_devices(container) if container.asksAccelerators

_has_devices(container) if container.usesClaims

_example(names) := "NVIDIA_VISIBLE_DEVICES or another one that gives devices" if {
	"NVIDIA_VISIBLE_DEVICES" in names
	count(names) > 1
} else := names[0] if {
	count(names) == 1
} else := $"{names[0]} or another one that gives devices"
