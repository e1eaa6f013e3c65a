# METADATA
# title: A quota is not lowered below its use
# description: |
#   A lower limit stops no pod that runs. Kubernetes refuses every new pod until less is in use, also the pods that
#   replace those of a Deployment or a Job. Kueue and Volcano admit nothing more, and in a cohort other queues may
#   reclaim the amount above the quota. KAI-Scheduler starts nothing more above a limit, and does not protect what a
#   queue has above its quota. usher itself admits no new workload of a GPUQuota. The check compares the new amount of accelerators with the use that the object itself
#   reports, in files with that of the facts. It accepts a change that raises a limit which is already too low.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#how-kubernetes-resourcequotas-work
#     description: Kubernetes on changes of a quota
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on limits and quotas of queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH455
#   about: objects
#   kinds: [clusterQueue, gpuQuota, kaiQueue, resourceQuota, volcanoQueue]
#   severity: medium
#   why: Pods that restart are refused, although no workload asked for more.
#   closes: [S28]
#   remediation: Wait until less is in use, or move workloads first, then lower the limit.
package usher.checks.queueing.limit_below_its_use

import data.usher.lib.text

deny contains finding if {
	some name, now in input.object.resourceQuota.spec.hard
	contains(name, "/")
	before := _before.resourceQuota.spec.hard[name]
	used := _status("resourceQuota").used[name]
	finding := _finding($"/spec/hard/{replace(name, "/", "~1")}", name, before, now, used)
}

deny contains finding if {
	some name, now in input.object.volcanoQueue.spec.capability
	contains(name, "/")
	before := _before.volcanoQueue.spec.capability[name]
	used := _status("volcanoQueue").allocated[name]
	finding := _finding($"/spec/capability/{replace(name, "/", "~1")}", name, before, now, used)
}

deny contains finding if {
	some entry in _quotas(input.object.clusterQueue)
	contains(entry.name, "/")
	some old in _quotas(_before.clusterQueue)
	old.flavor == entry.flavor
	old.name == entry.name
	some flavor in _status("clusterQueue").flavorsReservation
	flavor.name == entry.flavor
	some resource in flavor.resources
	resource.name == entry.name
	finding := _finding(entry.path, $"{entry.name} in flavor {text.excerpt(entry.flavor)}", old.quota, entry.quota, resource.total)
}

deny contains finding if {
	some field, in_use in {"limit": "allocated", "quota": "allocatedNonPreemptible"}
	now := input.object.kaiQueue.spec.resources.gpu[field]
	now.milli >= 0
	before := _bound(_before.kaiQueue.spec.resources.gpu[field], field)
	amounts := [amount | some name, amount in _status("kaiQueue")[in_use]; endswith(name, "/gpu")]
	used := {"milli": sum([amount.milli | some amount in amounts]), "text": concat(" and ", [amount.text | some amount in amounts])}
	finding := _finding($"/spec/resources/gpu/{field}", $"the {field} of GPUs", before, now, used)
}

deny contains finding if {
	not _status("gpuQuota").counting
	some index, limit in input.object.gpuQuota.spec.limits
	old := _before.gpuQuota.spec.limits[index]
	classes := [class | some class in limit.priorityClasses]
	classes == [class | some class in old.priorityClasses]
	some unit, now in limit.hard
	used := _status("gpuQuota").used[index][unit]
	for := [$" for {concat(", ", classes)}" | count(classes) > 0]
	finding := _finding($"/spec/limits/{index}/hard/{unit}", $"the limit of {unit}{concat("", for)}", old.hard[unit].amount, now.amount, used)
}

_bound(amount, _) := amount if amount.milli >= 0

_bound(amount, field) := {"milli": 1000000000000, "text": $"no {field}"} if amount.milli < 0

# On UPDATE the old object, in files the object of the facts.
_before := input.old.object if {
	input.old
} else := input.cluster.stored

_status(key) := status if {
	status := input.object[key].status
} else := input.cluster.stored[key].status

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
