# METADATA
# title: Pods ask for whole network devices
# description: |
#   A container cannot have 0.5 or 500m of rdma/ib or vpc.amazonaws.com/efa. Device plugins give out whole devices, and
#   count shares of a device as whole numbers. The API server refuses a fraction in a Pod, but accepts it inside the
#   templates of custom resources. Their operator then fails to create the pods. The check ignores huge pages, which are
#   bytes. Another check looks at accelerators.
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
#   why: The API server refuses the pods of the operator, so the job waits forever.
#   closes: [S32]
#   remediation: Ask for a whole number. One share of an RDMA device is enough for a container.
package usher.checks.fabric.whole_devices_only

import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	some device in fabric.devices
	contains(device.name, "/")
	fraction := _fraction(device.resource)

	finding := {
		"path": fabric.device_path(device, fraction.list),
		"message": $"{workload.container_name(device.podSet, device.container)} sets {fraction.list} of {device.name} to {fraction.quantity.text}, but device plugins give out whole devices only",
		"remedy": $"ask for {fraction.quantity.value}",
	}
}

# The finding shows one of the two; another check reports where they differ.
_fraction(resource) := {"list": "requests", "quantity": quantity} if {
	quantity := resource.requests
	not quantity.whole
} else := {"list": "limits", "quantity": quantity} if {
	quantity := resource.limits
	not quantity.whole
}
