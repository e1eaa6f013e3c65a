# METADATA
# title: No annotation names devices for NVIDIA's runtime plugin
# description: |
#   NVIDIA's container toolkit can run as a plugin of the container runtime (NRI). It injects the devices that the
#   annotation nvidia.cdi.k8s.io of a pod names, with /container. and a name for one container, whatever the pod asked
#   for. NVIDIA's own management pods use it; all others get their GPUs from the device plugin or by device claims.
#   Namespaces of monitoring, which need to see all GPUs, can be named in usher.yaml under `isolation.visibleDevices`.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/cdi.html
#     description: NVIDIA on the Container Device Interface and its runtime plugin
# schemas:
#   - input: schema.input
# custom:
#   code: USH209
#   about: labelled pods
#   severity: high
#   why: It takes GPUs that nobody counted, often those of others.
#   closes: [B8]
#   remediation: Remove the annotation, and ask for as many GPUs as the pod needs in limits.
package usher.checks.isolation.nri_device_annotations

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in isolation.device_annotations
	entry.domain == "nvidia.cdi.k8s.io"
	not isolation.may_see_all_devices

	finding := {
		"path": entry.path,
		"message": $"{workload.pod_set_name(entry.podSet)} takes the devices {text.excerpt(entry.value)} by the annotation {entry.key}, past every request and quota",
		"remedy": "remove the annotation, and ask for the GPUs in limits",
	}
}
