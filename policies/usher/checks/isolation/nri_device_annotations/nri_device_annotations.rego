# METADATA
# title: No annotation names devices for NVIDIA's runtime plugin
# description: |
#   NVIDIA's container toolkit can run as a plugin of the container runtime (NRI). It injects the devices that the
#   annotation nvidia.cdi.k8s.io of a pod names, whatever the pod asks for. With /container. and a name at its end, the
#   annotation applies to one container. NVIDIA's own management pods use it. All other pods get their GPUs from the
#   device plugin or by device claims. To allow this in monitoring namespaces, which need to see all GPUs, name them in
#   usher.yaml under `isolation.visibleDevices`.
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
#   why: The pod takes GPUs that no quota counts, often GPUs of other pods.
#   closes: [B8]
#   remediation: Remove the annotation, and ask in limits for as many GPUs as the pod needs.
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
		"message": $"{workload.pod_set_name(entry.podSet)} takes the devices {text.excerpt(entry.value)} by the annotation {entry.key}, which bypasses requests and quotas",
		"remedy": "remove the annotation, and ask for the GPUs in limits",
	}
}
