# METADATA
# title: Requests of network devices and huge pages equal their limits
# description: |
#   Devices of a device plugin, for example rdma/ib or vpc.amazonaws.com/efa, cannot be overcommitted, and huge pages
#   cannot either. The API server refuses a Pod whose requests and limits of them differ. It also refuses a Pod that
#   requests them without a limit. But it accepts both inside the templates of custom resources, and their operator then
#   fails to create the pods. A limit without a request counts for both. Another check looks at accelerators.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes on extended resources
#   - ref: https://kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages/
#     description: Kubernetes on huge pages
# schemas:
#   - input: schema.input
# custom:
#   code: USH907
#   about: accelerator pods
#   severity: high
#   why: The API server refuses the pods of the operator, so the job waits forever.
#   closes: [S32]
#   aliases: [rdma-requests-equal-limits]
#   remediation: Set requests and limits of the resource to the same amount, or remove the request.
package usher.checks.fabric.device_requests_equal_limits

import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	some device in fabric.devices
	requests := device.resource.requests
	limits := device.resource.limits
	requests.text != limits.text

	finding := {
		"path": fabric.device_path(device, "limits"),
		"message": $"{workload.container_name(device.podSet, device.container)} requests {fabric.shown(device, requests)} of {device.name}, but limits it to {fabric.shown(device, limits)}",
		"remedy": "set both to the same amount",
	}
}

deny contains finding if {
	some device in fabric.devices
	requests := device.resource.requests
	not device.resource.limits

	finding := {
		"path": fabric.device_path(device, "requests"),
		"message": $"{workload.container_name(device.podSet, device.container)} requests {fabric.shown(device, requests)} of {device.name}, but sets no limit",
		"remedy": $"set the limit of {device.name} to {fabric.shown(device, requests)} too",
	}
}
