# METADATA
# title: The nodes can hold all workloads that always run
# description: |
#   Each Deployment, StatefulSet and model service of a chart may fit the nodes, and all of them together may not: four
#   services with one GPU each on a node with one GPU leave three of them pending. The check adds up the pods with
#   accelerators that the objects of the same files always run, and computes how many of them the nodes hold at once when
#   they are empty. It reports this once, at the first of these objects by kind, namespace and name.
#
#   Jobs can wait for each other and objects in a queue wait there, so they do not count. A review sees no other objects,
#   so only `usher check` with facts about nodes finds this. Where nothing limits the number of nodes, somebody may add
#   nodes.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/NeMo-Retriever/pull/2510
#     description: A chart whose services need four GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH349
#   about: cluster facts
#   severity: medium
#   why: Some of the services never start, and an application without them does not work.
#   remediation: |
#     Run fewer of them, add nodes, or let several share a GPU. If an autoscaler adds nodes, say so in usher.yaml with
#     scalesFromZero or maxNodes of the pool.
package usher.checks.placement.workloads_above_all_nodes

deny contains object.union(finding, _assumption(room)) if {
	room := input.cluster.nodes.together

	finding := {
		"path": "",
		"message": $"{_shown(room.names)} always run and need room for {room.wanted} pods with accelerators at once, but even empty nodes hold only {room.most}",
		"remedy": "run fewer of them, add nodes, or let several share a GPU",
	}
}

_most := 4

_shown(names) := $"{concat(", ", array.slice(names, 0, count(names) - 1))} and {names[count(names) - 1]}" if {
	count(names) <= _most
}

_shown(names) := $"{concat(", ", array.slice(names, 0, _most))} and {count(names) - _most} more" if {
	count(names) > _most
}

_assumption(room) := {} if room.sure

_assumption(room) := {"assumption": "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"} if {
	not room.sure
}
