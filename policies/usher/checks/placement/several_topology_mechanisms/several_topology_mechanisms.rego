# METADATA
# title: Only one mechanism keeps the pods of a job together
# description: |
#   Kueue, Volcano and the exclusive placement of JobSet and LeaderWorkerSet each choose the rack or switch of a job by
#   themselves. Required pod affinity does so too. No mechanism knows what another one has chosen. Kueue reserves nodes
#   in one rack, another mechanism requires a second rack, and the pods stay pending while they use their quota. Pod
#   affinity counts only over the same label, because people use it over hosts or zones for other purposes. The check
#   skips objects that a controller made, because JobSet itself turns its annotation into pod affinity.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology aware scheduling
#   - ref: https://volcano.sh/en/docs/network_topology_aware_scheduling/
#     description: Volcano on network topology
# schemas:
#   - input: schema.input
# custom:
#   code: USH310
#   about: accelerator pods
#   severity: medium
#   why: Two schedulers choose different racks, and the job never starts.
#   closes: [S9]
#   remediation: |
#     Keep one mechanism. Where Kueue admits the job and knows the topology, keep its annotation and remove the others.
#     Where Volcano places the job, keep Volcano's own setting.
package usher.checks.placement.several_topology_mechanisms

import data.usher.lib.kueue
import data.usher.lib.topology
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	_is_labelled
	asked := [asked | some asked in [_kueue, _volcano, _exclusive, _affinity]; asked != []]
	second := asked[1][0]

	finding := {
		"path": second.path,
		"message": $"the job is kept together by {concat(" and by ", [ways[0].name | some ways in asked])}, which can choose different places",
		"remedy": "keep only one of them",
	}
}

# Each mechanism but pod affinity is asked for by a label or an annotation, and pod affinity counts beside them.
_is_labelled if count(input.workload.annotations) > 0

_is_labelled if count(input.workload.labels) > 0

_is_labelled if {
	some pod_set in input.podSets
	count(pod_set.annotations) + count(pod_set.labels) > 0
}

_kueue := [{"name": "Kueue's topology annotation", "path": path, "label": label} |
	some pod_set in input.podSets
	some annotation in kueue.topology_annotations
	label := pod_set.annotations[annotation]
	label != "false"
	path := _annotation_path(pod_set.metadataPath, annotation)
]

_volcano := array.concat(_volcano_on_pods, _volcano_on_object)

_volcano_on_pods := [{"name": "Volcano's network topology", "path": path} |
	some pod_set in input.podSets
	pod_set.annotations[topology.volcano_mode]
	path := _annotation_path(pod_set.metadataPath, topology.volcano_mode)
]

# KubeRay reads labels; the other operators read annotations.
_volcano_on_object := [{"name": "Volcano's network topology", "path": $"/metadata/{list}/volcano.sh~1network-topology-mode"} |
	some list in ["annotations", "labels"]
	input.workload[list][topology.volcano_mode]
]

_exclusive := [{"name": "exclusive placement", "path": path, "label": label} |
	some annotation in topology.exclusive_annotations
	label := input.workload.annotations[annotation]
	path := _annotation_path("/metadata", annotation)
]

_affinity := [{"name": "required pod affinity", "path": path} |
	some pod_set in input.podSets
	some index, term in pod_set.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
	some way in array.concat(_kueue, _exclusive)
	way.label == term.topologyKey
	path := $"{workload.field_path(pod_set, "affinity")}/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/{index}"
]

_annotation_path(metadata, annotation) := $"{metadata}/annotations/{replace(annotation, "/", "~1")}"
