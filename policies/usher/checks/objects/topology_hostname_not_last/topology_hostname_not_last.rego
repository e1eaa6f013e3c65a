# METADATA
# title: The host is the lowest level of a Topology
# description: |
#   The levels of a Topology go from the largest domain to the smallest, and nothing is smaller than a node: where
#   kubernetes.io/hostname stands among them it has to be the last. The API server refuses every other order.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH1411
#   about: objects
#   kinds: [topology]
#   severity: high
#   why: The Topology is refused, and flavors that name it admit nothing.
#   closes: [S9]
#   remediation: |
#     Write the levels from the largest to the smallest, kubernetes.io/hostname last.
package usher.checks.objects.topology_hostname_not_last

deny contains finding if {
	levels := input.object.topology.spec.levels
	some index, level in levels
	level.nodeLabel == "kubernetes.io/hostname"
	index < count(levels) - 1

	finding := {
		"path": $"/spec/levels/{index}/nodeLabel",
		"message": $"kubernetes.io/hostname is level {index + 1} of {count(levels)}, so the Topology is refused",
		"remedy": "put it last, after all larger domains",
	}
}
