# METADATA
# title: All pods of a gang could run at once
# description: |
#   Pods that must start together wait until all of them find a place. How many the nodes could hold at once, were they
#   empty, is an upper bound: nodes by kind, times the pods that fit on one of them; and of each resource there must be
#   enough for all. Pools of usher.yaml that scale count with maxNodes, and without it as boundless. Where nothing bounds
#   the nodes, others may be added to those that are there, so the finding only warns.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/gang-scheduling/
#     description: Kubernetes on pods that are scheduled all or none
# schemas:
#   - input: schema.input
# custom:
#   code: USH331
#   about: cluster facts
#   severity: high
#   why: The gang waits for ever; without a gang, what runs of it holds GPUs and waits for the rest.
#   closes: [S24]
#   remediation: |
#     Run fewer pods at once, or smaller ones; or add nodes. If an autoscaler does, say so in usher.yaml: scalesFromZero
#     or maxNodes of the pool.
package usher.checks.placement.gang_larger_than_all_nodes

deny contains object.union(finding, _assumption(gang)) if {
	gang := input.cluster.nodes.gang

	finding := {
		"path": "",
		"message": $"{gang.wanted} pods must start together, and the nodes hold {gang.most} of them at once if they are empty: they could never all run",
		"remedy": $"let {gang.most} pods start together at most, or make them smaller",
	}
}

_assumption(gang) := {} if gang.sure

_assumption(gang) := {"assumption": "no nodes are added to those that are there: usher.yaml says of their pools neither maxNodes nor scalesFromZero: false"} if {
	not gang.sure
}
