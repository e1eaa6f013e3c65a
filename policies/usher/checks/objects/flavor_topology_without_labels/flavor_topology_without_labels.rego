# METADATA
# title: A ResourceFlavor with a topology sets nodeLabels
# description: |
#   With topologyName, Kueue reads the topology from the nodes with the nodeLabels of the ResourceFlavor. Without a
#   label it would read all nodes of the cluster, of every kind, so the API server refuses the flavor.
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
#   why: The API server refuses the flavor, and queues with it admit nothing.
#   closes: [S9]
#   remediation: Set spec.nodeLabels to labels that only the nodes of the flavor have.
package usher.checks.objects.flavor_topology_without_labels

import data.usher.lib.text

deny contains finding if {
	spec := input.object.resourceFlavor.spec
	topology := spec.topologyName
	object.get(spec, "nodeLabels", {}) == {}

	finding := {
		"path": "/spec/nodeLabels",
		"message": $"the ResourceFlavor has topology {text.excerpt(topology)} but no nodeLabels, so the API server refuses it",
		"remedy": "set nodeLabels to labels of the flavor's nodes",
	}
}
