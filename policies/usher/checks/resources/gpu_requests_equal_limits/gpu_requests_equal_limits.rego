# METADATA
# title: GPU requests equal GPU limits
# description: |
#   Accelerators cannot be overcommitted. The API server refuses a Pod whose requests and limits differ. It accepts the
#   same values inside a PyTorchJob or RayJob template; the operator then fails to create the pods, and the job waits
#   forever. A request without a limit is also refused. A limit without a request counts for both.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on GPU requests and limits
# schemas:
#   - input: schema.input
# custom:
#   code: USH103
#   about: accelerator pods
#   why: The API server refuses the pods when the operator makes them, and the job waits forever.
#   closes: [S1, B21, B44]
#   severity: critical
#   remediation: Set requests and limits of the accelerator to the same number, or remove the request.
package usher.checks.resources.gpu_requests_equal_limits

import data.usher.lib.workload

deny contains finding if {
	some entry in workload.accelerator_resources
	requests := entry.resource.requests
	limits := entry.resource.limits
	requests.text != limits.text

	finding := {
		"path": workload.resource_path(entry.container, "limits", entry.name),
		"message": $"{workload.container_name(entry.podSet, entry.container)} requests {requests.text} of {entry.name}, but limits it to {limits.text}",
		"remedy": "set both to the same amount",
	}
}

deny contains finding if {
	some entry in workload.accelerator_resources
	requests := entry.resource.requests
	not entry.resource.limits

	finding := {
		"path": workload.resource_path(entry.container, "requests", entry.name),
		"message": $"{workload.container_name(entry.podSet, entry.container)} requests {requests.text} of {entry.name}, but sets no limit",
		"remedy": $"set the limit of {entry.name} to {requests.text} too",
	}
}
