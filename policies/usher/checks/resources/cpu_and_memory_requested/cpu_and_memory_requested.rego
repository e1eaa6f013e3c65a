# METADATA
# title: Containers with accelerators ask for cpu and memory
# description: |
#   A container that asks for GPUs and for nothing else is scheduled as if it needed neither cpu nor memory. The node
#   fills up with others, data loading starves the GPUs, and under memory pressure such a pod is among the first to be
#   evicted. Quotas and queues do not see what it uses. A limit stands in for a missing request, and so does what
#   the pod as a whole asks for in `spec.resources`. A LimitRange of the namespace fills requests in too, and runtimes
#   and operators have defaults of their own; that is seen only in the Pods that come out of it.
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
#   why: The GPUs wait for data while other pods use the cores beside them, or the pod is evicted.
#   closes: [S11, B22, S43]
#   remediation: |
#     Set requests of cpu and memory for every container that asks for accelerators; the share of the node that belongs
#     to its GPUs is a good start.
package usher.checks.resources.cpu_and_memory_requested

import data.usher.lib.workload

deny contains object.union(finding, _assumption) if {
	not input.site.systemNamespace
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.asksAccelerators
	missing := [resource |
		some resource in ["cpu", "memory"]
		not _asked(pod_set, container, resource)
	]
	missing != []

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} asks for accelerators, but for no {concat(" and no ", missing)}",
		"remedy": $"set requests of {concat(" and ", missing)}",
	}
}

_asked(_, container, resource) if container.resources[resource]

_asked(pod_set, _, resource) if pod_set.podRequests[resource]

_asked(pod_set, _, resource) if pod_set.podLimits[resource]

# What the API server sends of a Pod has been through LimitRanges and operators.
_assumption := {} if _final

_assumption := {"assumption": "nothing fills it in, such as a LimitRange or defaults of an operator"} if not _final

_final if {
	input.review
	input.workload.kind == "Pod"
}
