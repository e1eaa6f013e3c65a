# METADATA
# title: Only monitoring namespaces ask for access to all devices
# description: |
#   Resources like gpu.intel.com/monitoring give a container access to every GPU of its node, including GPUs of other
#   pods, and no quota counts them. They are made for exporters of metrics. usher.yaml can name monitoring namespaces
#   under `isolation.visibleDevices`. It can name more of these resources under `accelerators.resources` with the unit
#   monitoring. Another check reports device claims with admin access.
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
#   why: The pod uses the GPUs of other pods, and no quota counts them.
#   closes: [B14]
#   remediation: |
#     Ask for as many devices as the container needs, for example by gpu.intel.com/xe. Or have the namespace named in
#     usher.yaml under isolation.visibleDevices.
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
		"message": $"{workload.pod_set_name(pod_set)} asks for {request.name}, which gives access to every device of its node, but no quota counts them",
		"remedy": "ask for as many devices as it needs",
	}
}
