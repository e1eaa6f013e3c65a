# METADATA
# title: No container asks for devices by the name of a mount
# description: |
#   NVIDIA's container runtime can take lists of devices from mounts (accept-nvidia-visible-devices-as-volume-mounts).
#   The name of a mount below /var/run/nvidia-container-devices is then the device that the container gets, for example
#   `all`. Device plugins add these mounts themselves, outside the manifest. In a manifest they take GPUs that no quota
#   counts.
#
#   The mounted file is /dev/null, and a volume claim can hide it. Debug containers can mount every volume of the pod.
#   The directory itself names no device. To allow this in monitoring namespaces, which need to see all GPUs, name them
#   in usher.yaml under `isolation.visibleDevices`.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details
#     description: NVIDIA on the ways to hand a list of devices to its container runtime
# schemas:
#   - input: schema.input
# custom:
#   code: USH203
#   about: pods
#   severity: high
#   why: The container takes GPUs that no quota counts, often GPUs of other pods.
#   closes: [B4, B20]
#   remediation: Remove the mount and its volume, and ask in limits for as many GPUs as the container needs.
package usher.checks.isolation.device_list_by_mount

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

_root := "/var/run/nvidia-container-devices/"

deny contains finding if {
	some entry in workload.containers
	some index, mount in entry.container.volumeMounts
	startswith(mount.mountPath, _root)
	not isolation.may_see_all_devices
	device := trim_prefix(mount.mountPath, _root)

	finding := {
		"path": $"{workload.container_path(entry.container, $"volumeMounts/{index}")}/mountPath",
		"message": $"{workload.container_name(entry.podSet, entry.container)} takes the device {text.excerpt(device)} by the name of a mount, which bypasses requests and quotas",
		"remedy": "remove the mount, and ask for GPUs in limits only",
	}
}
