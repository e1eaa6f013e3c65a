# METADATA
# title: kubernetes.io/hostname is the last level of a Topology
# description: |
#   The levels of a Topology go from the largest domain to the smallest. A node is the smallest domain, so
#   kubernetes.io/hostname must be the last level. The API server refuses every other order.
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
#   why: The API server refuses the Topology, and flavors that name it admit nothing.
#   closes: [S9]
#   remediation: Order the levels from the largest to the smallest, with kubernetes.io/hostname last.
package usher.checks.objects.topology_hostname_not_last

deny contains finding if {
	levels := input.object.topology.spec.levels
	some index, level in levels
	level.nodeLabel == "kubernetes.io/hostname"
	index < count(levels) - 1

	finding := {
		"path": $"/spec/levels/{index}/nodeLabel",
		"message": $"kubernetes.io/hostname is level {index + 1} of {count(levels)}, so the API server refuses the Topology",
		"remedy": "put it last, after all larger domains",
	}
}
