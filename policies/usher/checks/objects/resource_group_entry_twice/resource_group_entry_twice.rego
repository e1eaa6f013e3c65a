# METADATA
# title: A resource or flavor is in only one resource group
# description: |
#   A ClusterQueue or a Cohort divides its resources into groups, and a workload gets one flavor of each group. Quota
#   for a resource or a flavor in two groups would count twice, so Kueue's webhooks refuse it. They also refuse a
#   duplicate within one group.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#resource-groups
#     description: Kueue on resource groups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1413
#   about: objects
#   kinds: [clusterQueue, cohort]
#   severity: high
#   why: Kueue refuses the queue.
#   closes: [S21]
#   remediation: Put resources that a workload needs together into one group, and use different flavors in other groups.
package usher.checks.objects.resource_group_entry_twice

import data.usher.lib.kueue

deny contains finding if {
	some indexes in _indexes[_]
	first := min(indexes)
	some index in indexes
	index != first
	entry := _entries[index]

	finding := {
		"path": entry.path,
		"message": $"{entry.kind} {entry.name} is in the resource groups twice, so Kueue refuses the object",
		"remedy": "keep it once, in one group",
	}
}

_indexes[entry.kind][entry.name] contains index if some index, entry in _entries

_entries := array.concat(_resources, _flavors)

_resources := [entry |
	some i, group in kueue.resource_groups
	some j, name in group.coveredResources
	entry := {"kind": "resource", "name": name, "path": $"/spec/resourceGroups/{i}/coveredResources/{j}"}
]

_flavors := [entry |
	some i, group in kueue.resource_groups
	some j, flavor in group.flavors
	entry := {"kind": "flavor", "name": flavor.name, "path": $"/spec/resourceGroups/{i}/flavors/{j}/name"}
]
