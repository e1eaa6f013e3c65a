# METADATA
# title: Add the requests that limits imply
# description: |
#   A container with a limit and no request of a resource requests as much as its limit. The API server writes this
#   request into Pods. It does not write it into the pod templates of custom resources, so quotas, dashboards and
#   operators that read only requests count no accelerators there. The webhook adds the request.
#   The webhook skips templates of Deployments, Jobs and other built-in kinds, and resources outside a list. When their
#   author later applies another limit, `kubectl apply` would keep the old request, and the two would contradict each
#   other. It also skips a limit that is not a whole number: the author has to change it first.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on requests and limits of devices
# schemas:
#   - input: schema.input
# custom:
#   code: USM101
#   order: 5
#   about: accelerator pods
package usher.mutations.resources.requests_from_limits

import data.usher.lib.workload

intents contains {
	"at": entry.container.path,
	"field": "request",
	"value": {"name": entry.name, "amount": entry.resource.limits.text},
	"reason": $"the limit is {entry.resource.limits.text}, and Kubernetes uses it as the missing request",
} if {
	not _built_in
	some entry in workload.accelerator_resources
	entry.resource.limits.value > 0
	entry.resource.limits.whole
	not entry.resource.requests
	not _apart(entry)
}

_built_in := "the API server copies the limits of a Pod into its requests" if {
	input.workload.kind == "Pod"
	input.workload.group == ""
} else := "kubectl apply would keep the old request when the author changes the limit, and the API server would refuse both" if {
	input.workload.group in ["", "apps", "batch"]
}

# kubectl replaces a list as a whole. It merges resources that are in an object, or outside a container.
_apart(entry) if entry.resource.places

_apart(entry) if {
	place := split(entry.container.path, "/")
	trim(place[count(place) - 1], "0123456789") != ""
}

skips contains {"at": "", "reason": _built_in}

skips contains {"at": "", "reason": "its containers set no limits of accelerators"} if {
	not _built_in
	every entry in workload.accelerator_resources {
		not entry.resource.limits.value > 0
	}
}

skips contains {"at": entry.container.path, "reason": reason} if {
	not _built_in
	some entry in workload.accelerator_resources
	entry.resource.limits.value > 0
	reason := _why_not(entry)
}

_why_not(entry) := $"the container already requests {entry.name}" if entry.resource.requests

else := "kubectl apply would keep the old request when the author changes the limit" if _apart(entry)

else := $"its limit of {entry.name} is {entry.resource.limits.text}, which is not a whole number" if not entry.resource.limits.whole
