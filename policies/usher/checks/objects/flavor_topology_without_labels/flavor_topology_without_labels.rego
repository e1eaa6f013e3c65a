# METADATA
# title: A flavor with a topology selects its nodes
# description: |
#   With topologyName Kueue reads the topology from the nodes that carry the nodeLabels of the ResourceFlavor. Without a
#   label that would be all nodes of the cluster, of whatever kind, so the API server refuses it.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/
#     description: Kueue on ResourceFlavors
# schemas:
#   - input: schema.input
# custom:
#   code: USH1410
#   about: objects
#   kinds: [resourceFlavor]
#   severity: high
#   why: The flavor is refused, and no queue with it admits anything.
#   closes: [S9]
#   remediation: |
#     Set spec.nodeLabels to labels that the nodes of the flavor carry and no others do.
package usher.checks.objects.flavor_topology_without_labels

import data.usher.lib.text

deny contains finding if {
	spec := input.object.resourceFlavor.spec
	topology := spec.topologyName
	object.get(spec, "nodeLabels", {}) == {}

	finding := {
		"path": "/spec/nodeLabels",
		"message": $"the ResourceFlavor has topology {text.excerpt(topology)} and no nodeLabels, so it is refused",
		"remedy": "set nodeLabels to what the nodes of the flavor carry",
	}
}
