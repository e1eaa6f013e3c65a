# METADATA
# title: Either Kueue or Volcano places pods by topology
# description: |
#   With one of its topology annotations Kueue chooses the nodes of the pods when it admits them, and books their
#   capacity in its own picture of the cluster. Volcano, named as the scheduler, chooses nodes by another picture and
#   knows nothing of the first: the pods fit on one of the two and wait, while the quota is taken. Queueing by Kueue and
#   gangs by Volcano go together as long as the template leaves the topology to one of them. Where the job asks Volcano
#   for a topology of its own, several-topology-mechanisms tells it. What a controller made is left alone.
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
#   why: Two placements that do not know of each other leave the pods pending with their quota taken.
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
		"message": $"{workload.pod_set_name(pod_set)}: {annotation} has Kueue choose the nodes, and schedulerName {pod_set.schedulerName} has Volcano choose them as well",
		"remedy": "remove the annotation or the schedulerName",
	}
}

_asks_volcano(pod_set) if pod_set.annotations[_network_topology]

_asks_volcano(_) if input.workload.annotations[_network_topology]

# KubeRay reads a label.
_asks_volcano(_) if input.workload.labels[_network_topology]
