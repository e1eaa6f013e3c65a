# METADATA
# title: Resources and flavors stand in one resource group only
# description: |
#   A ClusterQueue or a Cohort divides its resources into groups, and a workload gets one flavor of each group. A resource
#   that two groups cover, or a flavor that stands in two, would be given out twice; Kueue's webhooks refuse it, within
#   one group as well.
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
#   why: The queue is refused when it is created.
#   closes: [S21]
#   remediation: |
#     Put what must come together into one group, and give flavors of other groups other names.
package usher.checks.objects.resource_group_entry_twice

import data.usher.lib.kueue

deny contains finding if {
	some entries in [_resources, _flavors]
	some index, entry in entries
	some before, first in entries
	before < index
	first.name == entry.name

	finding := {
		"path": entry.path,
		"message": $"{entry.kind} {entry.name} stands in the resource groups twice, so it is refused",
		"remedy": "leave it in one group, once",
	}
}

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
