# METADATA
# title: Network devices are given out whole
# description: |
#   A quantity such as 0.5 or 500m of rdma/ib or vpc.amazonaws.com/efa does not exist: device plugins hand out whole
#   devices, and what they share they count in whole shares. The API server refuses it in a Pod, but accepts it inside the
#   templates of custom resources, whose operator then fails to create the pods. Huge pages are bytes, and accelerators
#   have a check of their own.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes on extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH915
#   about: accelerator pods
#   severity: high
#   why: The operator never gets its pods past the API server, and the job waits for ever.
#   closes: [S32]
#   remediation: Ask for a whole number; of a shared RDMA device, one is enough for a container.
package usher.checks.fabric.whole_devices_only

import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	some device in fabric.devices
	contains(device.name, "/")
	fraction := _fraction(device.resource)

	finding := {
		"path": fabric.device_path(device, fraction.list),
		"message": $"{workload.container_name(device.podSet, device.container)}: {fraction.list} {fraction.quantity.text} of {device.name}, which is given out whole",
		"remedy": $"ask for {fraction.quantity.value}",
	}
}

# One of the two is enough to show: where they differ, another check says so.
_fraction(resource) := {"list": "requests", "quantity": quantity} if {
	quantity := resource.requests
	not quantity.whole
} else := {"list": "limits", "quantity": quantity} if {
	quantity := resource.limits
	not quantity.whole
}
