# METADATA
# title: A network topology sets its highest tier once
# description: |
#   A network topology limits how far a job may spread, by the number of a tier (`highestTierAllowed`) or by its name
#   (`highestTierName`). Volcano's webhook refuses a Job or PodGroup that sets both. The same holds for subgroups of a
#   PodGroup and for the partitions of a task.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/network_topology_aware_scheduling/
#     description: Volcano on network topology
# schemas:
#   - input: schema.input
# custom:
#   code: USH1424
#   about: objects
#   kinds: [volcanoPodGroup, volcanoJob, volcanoCronJob, volcanoJobTemplate]
#   severity: high
#   why: Volcano refuses the object, or every Job that is made from a template.
#   closes: [S26]
#   remediation: Keep one of the two fields.
package usher.checks.objects.network_topology_both_tiers

import data.usher.lib.volcano

deny contains finding if {
	some path, topology in _topologies
	topology.highestTierAllowed
	topology.highestTierName != ""

	finding := {
		"path": $"{path}/highestTierName",
		"message": $"highestTierName {topology.highestTierName} and highestTierAllowed {topology.highestTierAllowed} are both set, so Volcano refuses the object",
		"remedy": "keep one of highestTierName and highestTierAllowed",
	}
}

_group := input.object.volcanoPodGroup.spec

_topologies[$"{volcano.job_spec_path}/networkTopology"] := volcano.job_spec.networkTopology

_topologies[path] := task.partitionPolicy.networkTopology if {
	some index, task in volcano.job_spec.tasks
	path := $"{volcano.job_spec_path}/tasks/{index}/partitionPolicy/networkTopology"
}

_topologies["/spec/networkTopology"] := _group.networkTopology

_topologies[path] := policy.networkTopology if {
	some index, policy in _group.subGroupPolicy
	path := $"/spec/subGroupPolicy/{index}/networkTopology"
}
