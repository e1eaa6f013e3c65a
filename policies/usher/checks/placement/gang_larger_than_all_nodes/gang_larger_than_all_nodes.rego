# METADATA
# title: The nodes can hold all pods of a gang at once
# description: |
#   Pods that must start together wait until all of them find a place. The check computes an upper bound of how many
#   pods the nodes hold at once when the nodes are empty. For each kind of node it multiplies the number of nodes by the
#   pods that fit on one of them. Each resource must also be enough for all pods together. A pool of usher.yaml that
#   scales counts with its maxNodes; without maxNodes it has no bound. Where nothing limits the number of nodes,
#   somebody may add nodes, so the finding only warns.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/gang-scheduling/
#     description: Kubernetes on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH331
#   about: cluster facts
#   severity: high
#   why: The gang waits forever. Without a gang, the pods that do run hold GPUs and wait for the rest.
#   closes: [S24]
#   remediation: |
#     Run fewer pods at once, use smaller pods, or add nodes. If an autoscaler adds nodes, say so in usher.yaml with
#     scalesFromZero or maxNodes of the pool.
package usher.checks.placement.gang_larger_than_all_nodes

deny contains object.union(finding, _assumption(gang)) if {
	gang := input.cluster.nodes.gang

	finding := {
		"path": "",
		"message": $"{gang.wanted} pods must start together, but even empty nodes hold only {gang.most} of them at once, so they can never all run{_left(gang)}",
		"remedy": $"start no more than {gang.most} of them together, or make them smaller{_let_in(gang)}",
	}
}

_left(gang) := $". They are kept off {gang.left}" if {
	gang.left
} else := ""

_let_in(gang) := ", or let them run there too" if {
	gang.left
} else := ""

_assumption(gang) := {} if gang.sure

_assumption(gang) := {"assumption": "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"} if {
	not gang.sure
}
