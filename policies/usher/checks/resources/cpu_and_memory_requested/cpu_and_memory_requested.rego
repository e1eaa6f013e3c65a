# METADATA
# title: Containers with accelerators ask for cpu and memory
# description: |
#   A container that asks only for GPUs is scheduled as if it needed no cpu and no memory. Other pods fill the node,
#   data loading becomes too slow for the GPUs, and under memory pressure the pod is among the first to be evicted.
#   Quotas and queues do not count what it uses. A limit replaces a missing request, and so does a request of the whole
#   pod in `spec.resources`. A LimitRange of the namespace can also add requests, and runtimes and operators have their
#   own defaults. Only the resulting Pods show these.
#
#   The check reports a workload once, at the first of its containers.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
#     description: Kubernetes on requests and limits
# schemas:
#   - input: schema.input
# custom:
#   code: USH105
#   about: accelerator pods
#   severity: medium
#   strict_only: A LimitRange often sets the requests, and a short test needs no guarantee.
#   why: The GPUs wait for data while other pods use the cores beside them, or the pod is evicted.
#   closes: [S11, B22, S43]
#   remediation: |
#     Set requests of cpu and memory for every container that asks for accelerators. A good start is the share of the
#     node that belongs to its GPUs.
package usher.checks.resources.cpu_and_memory_requested

import data.usher.lib.amounts
import data.usher.lib.workload

# One finding for the workload: the same habit, and often the same line, is missing in each of its templates.
deny contains object.union(finding, _assumption) if {
	not input.site.systemNamespace
	first := _without_requests[0]

	finding := {
		"path": first.path,
		"message": $"{first.name} asks for accelerators, but not for {concat(" or ", first.missing)}, so the scheduler reserves no share for it{_others}",
		"remedy": $"set requests of {concat(" and ", first.missing)}{_where(first)}",
	}
}

_without_requests := [entry |
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.asksAccelerators
	missing := [resource |
		some resource in ["cpu", "memory"]
		not _asked(pod_set, container, resource)
	]
	missing != []
	entry := {"path": container.path, "name": workload.container_name(pod_set, container), "missing": missing}
]

default _others := ""

_others := $"; {others} of the workload {_lack(others)} requests too" if {
	number := count(_without_requests) - 1
	number > 0
	others := amounts.number_of(number, "other container", "other containers")
}

_lack(others) := "lacks" if startswith(others, "1 ")

_lack(others) := "lack" if not startswith(others, "1 ")

_asked(_, container, resource) if container.resources[resource]

_asked(pod_set, _, resource) if pod_set.podRequests[resource]

_asked(pod_set, _, resource) if pod_set.podLimits[resource]

# LimitRanges and operators have already changed a Pod that the API server sends.
_assumption := {} if _has_all_defaults

else := {"assumption": "usher assumes that neither the serving runtime nor a LimitRange adds it"} if _on_kserve

else := {"assumption": "usher assumes that no LimitRange or operator default adds it"}

# KServe names the container of a model, so its author knows only the field.
_where(first) := " in spec.predictor.model.resources" if {
	_on_kserve
	first.path == "/spec/predictor/model"
} else := ""

_on_kserve if input.workload.group == "serving.kserve.io"

_has_all_defaults if {
	input.review
	input.workload.kind == "Pod"
}
