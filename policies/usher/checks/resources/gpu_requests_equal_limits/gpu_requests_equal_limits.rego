# METADATA
# title: GPU requests must equal limits
# description: |
#   Accelerators cannot be overcommitted. The API server refuses a Pod whose requests and limits differ, but accepts
#   the same inside a PyTorchJob or RayJob template; its operator then fails to create the pods, and the job waits for
#   ever. A request without a limit is refused in the same way; a limit without a request counts for both.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on GPU requests and limits
# schemas:
#   - input: schema.input
# custom:
#   code: USH103
#   about: accelerator pods
#   why: Its pods are refused when their operator makes them, and the job waits for ever.
#   closes: [S1, B21, B44]
#   severity: critical
#   remediation: Set requests and limits of the accelerator to the same number, or leave the request out.
package usher.checks.resources.gpu_requests_equal_limits

import data.usher.lib.workload

deny contains finding if {
	some entry in workload.accelerator_resources
	requests := entry.resource.requests
	limits := entry.resource.limits
	requests.text != limits.text

	finding := {
		"path": workload.resource_path(entry.container, "limits", entry.name),
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {entry.name} requests {requests.text}, limits {limits.text}",
		"remedy": "set both to the same number",
	}
}

deny contains finding if {
	some entry in workload.accelerator_resources
	requests := entry.resource.requests
	not entry.resource.limits

	finding := {
		"path": workload.resource_path(entry.container, "requests", entry.name),
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {entry.name} requests {requests.text} and sets no limit",
		"remedy": $"set limits of {entry.name} to {requests.text} as well",
	}
}
