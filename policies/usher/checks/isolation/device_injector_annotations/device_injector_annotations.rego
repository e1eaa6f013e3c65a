# METADATA
# title: No annotation names devices or mounts for the container runtime of a node
# description: |
#   The device injector is an NRI plugin. It gives a container everything that annotations of its pod list: devices
#   below devices.noderesource.dev and cdi-devices.noderesource.dev, and any directory of the node below
#   mounts.noderesource.dev. The older domains end in nri.io. Other plugins give devices of CDI by cdi.nri.io, and
#   network and RDMA devices by netdevices.nri.io. The plugins set no limit, and no request counts what they give. Where
#   a plugin is installed, passthrough to virtual machines may need these annotations. Elsewhere they do nothing.
#
#   CRI-O gives a container the device files that io.kubernetes.cri-o.Devices or devices.crio.io lists, if its
#   settings allow them. Many clusters allow /dev/fuse and /dev/net/tun, so the check accepts these.
# scope: package
# related_resources:
#   - ref: https://github.com/containerd/nri/tree/main/plugins/device-injector
#     description: NRI on its device injector
#   - ref: https://github.com/cri-o/cri-o/blob/main/docs/crio.conf.5.md
#     description: CRI-O on allowed_annotations and allowed_devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH218
#   about: labelled pods
#   severity: medium
#   why: The pod takes devices and files of the node that no request or quota counts.
#   closes: [B8]
#   remediation: |
#     Remove the annotation, and ask for devices in limits or by a device claim. If this cluster uses the plugin for
#     passthrough, turn the check off for these namespaces in usher.yaml.
package usher.checks.isolation.device_injector_annotations

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

_domains := [
	"cdi-devices.noderesource.dev",
	"cdi-devices.nri.io",
	"cdi.nri.io",
	"devices.crio.io",
	"devices.noderesource.dev",
	"devices.nri.io",
	"io.kubernetes.cri-o.Devices",
	"mounts.noderesource.dev",
	"mounts.nri.io",
	"netdevices.nri.io",
]

deny contains finding if {
	some entry in isolation.device_annotations
	entry.domain in _domains
	not isolation.may_see_all_devices
	not _is_harmless(entry)

	finding := {
		"path": entry.path,
		"message": $"{workload.pod_set_name(entry.podSet)} takes {text.excerpt(entry.value)} from its node by the annotation {entry.key}, which bypasses requests and quotas",
		"remedy": "remove the annotation, and ask for devices in limits",
	}
}

# ParseDevices of internal/config/device in cri-o/cri-o: entries between commas, each with up to two colons.
_is_harmless(entry) if {
	entry.domain in ["devices.crio.io", "io.kubernetes.cri-o.Devices"]
	every device in split(entry.value, ",") {
		split(trim_space(device), ":")[0] in ["/dev/fuse", "/dev/net/tun"]
	}
}
