# METADATA
# title: Pods name existing topology levels
# description: |
#   The topology annotations of a pod template name a level. The level is a node label that must be among the levels of
#   the flavor's Topology. If no flavor has the level, Kueue never admits the workload. Somebody may add a Topology, or
#   switch off Kueue's placement by topology, so the finding only warns, unless usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH438
#   about: cluster facts
#   severity: medium
#   why: The workload waits forever for racks or blocks that Kueue does not know.
#   closes: [S9, S21]
#   remediation: Name a level that `kubectl get topologies -o yaml` lists.
package usher.checks.queueing.topology_level_not_there

import data.usher.lib.kueue
import data.usher.lib.queues
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some unmatched in queues.verdict.unmatched
	some flavor in unmatched.flavors
	level := flavor.level
	pod_set := input.podSets[unmatched.podSet]

	finding := {
		"path": _path(pod_set, level),
		"message": $"{workload.pod_set_name(pod_set)}: the Topology of flavor {flavor.flavor} has no level {text.excerpt(level)}, so ClusterQueue {queues.cluster_queue.name} never admits {queues.workload_name}",
		"remedy": $"name one of its levels: {concat(", ", flavor.levels)}",
	}
}

# The first annotation that names it.
_path(pod_set, level) := kueue.annotation_path(pod_set, keys[0]) if {
	keys := [key |
		some key in [kueue.required_topology, kueue.preferred_topology, kueue.slice_topology]
		pod_set.annotations[key] == level
	]
}
