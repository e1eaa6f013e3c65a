# METADATA
# title: Requests of network devices and huge pages equal their limits
# description: |
#   Whatever a device plugin hands out, such as rdma/ib or vpc.amazonaws.com/efa, cannot be overcommitted, and neither can
#   huge pages. The API server refuses a Pod whose requests and limits of them differ, or which requests them without a
#   limit, but accepts the same inside the templates of custom resources; their operator then fails to create the pods. A
#   limit without a request counts for both. Accelerators have a check of their own.
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
#   why: The operator never gets its pods past the API server, and the job waits for ever.
#   closes: [S32]
#   aliases: [rdma-requests-equal-limits]
#   remediation: Set requests and limits of the resource to the same amount, or leave the request out.
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
		"message": $"{workload.container_name(device.podSet, device.container)}: {device.name} requests {fabric.shown(device, requests)}, limits {fabric.shown(device, limits)}",
		"remedy": "set both to the same amount",
	}
}

deny contains finding if {
	some device in fabric.devices
	requests := device.resource.requests
	not device.resource.limits

	finding := {
		"path": fabric.device_path(device, "requests"),
		"message": $"{workload.container_name(device.podSet, device.container)}: {device.name} requests {fabric.shown(device, requests)} and sets no limit",
		"remedy": $"set limits of {device.name} to {fabric.shown(device, requests)} as well",
	}
}
