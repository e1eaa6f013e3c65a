# METADATA
# title: No mount stands for a list of devices
# description: |
#   Where NVIDIA's container runtime takes lists of devices from mounts (accept-nvidia-visible-devices-as-volume-mounts),
#   the name of a mount below /var/run/nvidia-container-devices is the device that the container gets, such as `all`.
#   Device plugins write such mounts past the manifest. In a manifest they take GPUs that nobody counted; mounted is
#   /dev/null, which a volume claim may hide. Debug containers can mount what the pod has as a volume. The directory
#   itself stands for no device. Namespaces of monitoring, which need to see all GPUs, can be named in usher.yaml under
#   `isolation.visibleDevices`.
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
#   why: It takes GPUs that nobody counted, often those of others.
#   closes: [B4, B20]
#   remediation: Remove the mount and its volume, and ask for as many GPUs as the container needs in its limits.
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
		"path": $"{entry.container.path}/volumeMounts/{index}/mountPath",
		"message": $"{workload.container_name(entry.podSet, entry.container)} takes the device {text.excerpt(device)} by the name of a mount, past every request and quota",
		"remedy": "remove the mount, and get GPUs by limits alone",
	}
}
