# METADATA
# title: Write the requests that follow from limits
# description: |
#   A container that has a limit of a resource and no request asks for as much as its limit. The API server writes that
#   down when it makes a Pod, but in the pod templates of custom resources nobody does, and quotas, dashboards and
#   operators that read requests alone count no accelerators in them. They are given the request.
#   Templates of Deployments, Jobs and the like are left alone, and so are resources that stand in no list: when their
#   author applies another limit, `kubectl apply` would leave the request as it was, and the two contradict each other.
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
	"reason": $"its limit is {entry.resource.limits.text}, and a missing request stands for as much",
} if {
	not _built_in
	some entry in workload.accelerator_resources
	entry.resource.limits.value > 0
	not entry.resource.requests
	not _apart(entry)
}

_built_in := "the API server takes the limits of a Pod for its requests" if {
	input.workload.kind == "Pod"
	input.workload.group == ""
} else := "kubectl apply would leave the request as it was when the limit is changed, and the API server refuse them both" if {
	input.workload.group in {"", "apps", "batch"}
}

# A list is applied as a whole. What stands in an object of its own, or elsewhere than in a container, is not.
_apart(entry) if entry.resource.places

_apart(entry) if {
	place := split(entry.container.path, "/")
	trim(place[count(place) - 1], "0123456789") != ""
}

skips contains {"at": "", "reason": _built_in}

skips contains {"at": "", "reason": "no container of it has a limit of accelerators"} if {
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

_why_not(entry) := $"it requests {entry.name} itself" if entry.resource.requests

else := "kubectl apply would leave the request as it was when the limit is changed" if _apart(entry)
