# METADATA
# title: No annotation names devices or mounts for NRI's device injector
# description: |
#   The device injector among the plugins of NRI gives a container what annotations of its pod list: devices below
#   devices.noderesource.dev and cdi-devices.noderesource.dev, and any directory of the node below
#   mounts.noderesource.dev; the older domains end in nri.io. Nothing bounds it, and no request counts what it gives. Where
#   the plugin is installed, passthrough to virtual machines may need it; where it is not, the annotations do nothing.
# scope: package
# related_resources:
#   - ref: https://github.com/containerd/nri/tree/main/plugins/device-injector
#     description: NRI on its device injector
# schemas:
#   - input: schema.input
# custom:
#   code: USH218
#   about: labelled pods
#   severity: medium
#   why: It takes devices and files of the node that nobody counted or allowed.
#   closes: [B8]
#   remediation: |
#     Remove the annotation, and ask for devices in limits or by a device claim. If the plugin is how this cluster passes
#     devices through, turn the check off for these namespaces in usher.yaml.
package usher.checks.isolation.device_injector_annotations

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

_domains := {
	"cdi-devices.noderesource.dev",
	"cdi-devices.nri.io",
	"devices.noderesource.dev",
	"devices.nri.io",
	"mounts.noderesource.dev",
	"mounts.nri.io",
}

deny contains finding if {
	some entry in isolation.device_annotations
	entry.domain in _domains
	not isolation.may_see_all_devices

	finding := {
		"path": entry.path,
		"message": $"{workload.pod_set_name(entry.podSet)} takes {text.excerpt(entry.value)} from its node by the annotation {entry.key}, past every request and quota",
		"remedy": "remove the annotation, and ask for devices in limits",
	}
}
