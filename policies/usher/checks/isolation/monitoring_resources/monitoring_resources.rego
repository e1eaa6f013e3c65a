# METADATA
# title: Only monitoring asks for access to all devices
# description: |
#   Resources such as gpu.intel.com/monitoring give a container every GPU of its node, those of others included, and take
#   none from the count. They are made for exporters of metrics. Namespaces of monitoring can be named in usher.yaml
#   under `isolation.visibleDevices`; which resources are meant, beside the known ones, under `accelerators.resources`
#   with the unit monitoring. Claims with admin access are told where they are written.
# scope: package
# related_resources:
#   - ref: https://github.com/intel/intel-device-plugins-for-kubernetes/blob/main/cmd/gpu_plugin/README.md
#     description: Intel on the monitoring resource of its GPU plugin
# schemas:
#   - input: schema.input
# custom:
#   code: USH212
#   about: accelerator pods
#   severity: medium
#   why: It uses the GPUs of others, and nobody counts it.
#   closes: [B14]
#   remediation: |
#     Ask for as many devices as the container needs, such as gpu.intel.com/xe, or have the namespace named in usher.yaml
#     under isolation.visibleDevices.
package usher.checks.isolation.monitoring_resources

import data.usher.lib.isolation
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some request in pod_set.requests
	request.route == "access to all devices"
	contains(request.name, "/")
	not isolation.may_see_all_devices

	finding := {
		"path": request.path,
		"message": $"{workload.pod_set_name(pod_set)} asks for {request.name}, which gives it every device of its node and counts none",
		"remedy": "ask for as many devices as it needs",
	}
}
