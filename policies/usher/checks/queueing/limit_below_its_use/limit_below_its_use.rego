# METADATA
# title: A quota is not lowered below its use
# description: |
#   A lower limit stops no pod that runs. Kubernetes refuses every new pod until less is in use, also the pods that
#   replace those of a Deployment or a Job. Kueue and Volcano admit nothing more, and in a cohort other queues may
#   reclaim the amount above the quota. The check compares the new amount of accelerators with the use that the object
#   itself reports. It accepts a change that raises a limit which is already too low.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#how-kubernetes-resourcequotas-work
#     description: Kubernetes on changes of a quota
# schemas:
#   - input: schema.input
# custom:
#   code: USH455
#   about: objects
#   kinds: [clusterQueue, resourceQuota, volcanoQueue]
#   severity: medium
#   why: Pods that restart are refused, although no workload asked for more.
#   closes: [S28]
#   remediation: Wait until less is in use, or move workloads first, then lower the limit.
package usher.checks.queueing.limit_below_its_use

import data.usher.lib.text

deny contains finding if {
	some name, now in input.object.resourceQuota.spec.hard
	contains(name, "/")
	before := input.old.object.resourceQuota.spec.hard[name]
	used := input.object.resourceQuota.status.used[name]
	finding := _finding($"/spec/hard/{replace(name, "/", "~1")}", name, before, now, used)
}

deny contains finding if {
	some name, now in input.object.volcanoQueue.spec.capability
	contains(name, "/")
	before := input.old.object.volcanoQueue.spec.capability[name]
	used := input.object.volcanoQueue.status.allocated[name]
	finding := _finding($"/spec/capability/{replace(name, "/", "~1")}", name, before, now, used)
}

deny contains finding if {
	some entry in _quotas(input.object.clusterQueue)
	contains(entry.name, "/")
	some old in _quotas(input.old.object.clusterQueue)
	old.flavor == entry.flavor
	old.name == entry.name
	some flavor in input.object.clusterQueue.status.flavorsReservation
	flavor.name == entry.flavor
	some resource in flavor.resources
	resource.name == entry.name
	finding := _finding(entry.path, $"{entry.name} in flavor {text.excerpt(entry.flavor)}", old.quota, entry.quota, resource.total)
}

_quotas(queue) := [entry |
	some group_index, group in queue.spec.resourceGroups
	some flavor_index, flavor in group.flavors
	some index, resource in flavor.resources
	entry := {
		"flavor": flavor.name,
		"name": resource.name,
		"quota": resource.nominalQuota,
		"path": $"/spec/resourceGroups/{group_index}/flavors/{flavor_index}/resources/{index}/nominalQuota",
	}
]

_finding(path, name, before, now, used) := {
	"path": path,
	"message": $"{name} falls from {before.text} to {now.text}, but {used.text} are in use",
	"remedy": $"keep {used.text}, or wait until less is in use",
} if {
	now.milli < before.milli
	now.milli < used.milli
}
