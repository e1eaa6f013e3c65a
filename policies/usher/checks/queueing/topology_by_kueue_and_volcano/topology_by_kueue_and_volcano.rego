# METADATA
# title: Only Kueue or only Volcano places pods by topology
# description: |
#   With one of its topology annotations, Kueue chooses the nodes of the pods when it admits them, and reserves their
#   capacity in its own accounts. Volcano, as the scheduler, chooses nodes by its own accounts and does not know Kueue's
#   choice. The pods fit in one of the two accounts and wait, while they use the quota. Kueue can queue and Volcano can
#   form gangs, as long as the template leaves the topology to only one of them. If the job asks Volcano for a topology
#   of its own, the check several-topology-mechanisms finds it. This check skips objects that a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
#   - ref: https://volcano.sh/en/docs/network_topology_aware_scheduling/
#     description: Volcano on topology-aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH418
#   about: labelled pods
#   severity: medium
#   why: Two independent placements leave the pods pending while they use their quota.
#   closes: [S9, S25]
#   remediation: |
#     Remove the kueue.x-k8s.io/podset-*-topology annotations, or the schedulerName.
package usher.checks.queueing.topology_by_kueue_and_volcano

import data.usher.lib.kueue
import data.usher.lib.workload

_network_topology := "volcano.sh/network-topology-mode"

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	pod_set.schedulerName in input.site.volcanoSchedulers
	some annotation in kueue.topology_annotations
	pod_set.annotations[annotation]
	not input.workload.owned
	not _asks_volcano(pod_set)

	finding := {
		"path": kueue.annotation_path(pod_set, annotation),
		"message": $"{workload.pod_set_name(pod_set)}: {annotation} makes Kueue choose the nodes, but schedulerName {pod_set.schedulerName} makes Volcano choose them too",
		"remedy": "remove the annotation or the schedulerName",
	}
}

_asks_volcano(pod_set) if pod_set.annotations[_network_topology]

_asks_volcano(_) if input.workload.annotations[_network_topology]

# KubeRay reads a label.
_asks_volcano(_) if input.workload.labels[_network_topology]
