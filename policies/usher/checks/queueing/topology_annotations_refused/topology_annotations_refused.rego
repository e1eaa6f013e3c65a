# METADATA
# title: Kueue accepts the topology annotations of each template
# description: |
#   Kueue's webhooks refuse a template or a Pod whose topology annotations they cannot follow. usher reports each
#   template once, with all reasons.
#
#   * A value is invalid. The topologies name a node label, podset-unconstrained-topology is true or false,
#     podset-slice-required-topology-constraints is a JSON array of one to three levels, and podset-group-name is not
#     a number.
#   * Two annotations exclude each other. A template asks for one placement: all pods in one required domain, in one
#     preferred domain, or anywhere. It describes its slices in one way, and a template in a group has no slices.
#   * A slice has a topology but no size, or a size but no topology.
#   * A slice has less than one pod, or more pods than the template makes. For a plain Pod and the pods of a Deployment
#     only the first counts, because other pods belong to the same group.
#   * A group (podset-group-name) is not a leader and its workers: exactly two templates, one of them with a single pod.
#     Each group of a LeaderWorkerSet has exactly one leader, so for this kind only the number of templates counts.
#   * podset-unconstrained-topology is false. Kueue read this as a request without a level until September 2026.
#   * A template in a group has no required or preferred topology, or not the same as the other template.
#   * The size of a slice does not divide the number of pods. Kueue admits them and never starts the rest.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
#     description: Kubernetes on label keys
# schemas:
#   - input: schema.input
# custom:
#   code: USH408
#   aliases:
#     - topology-annotations-conflict
#     - USH421
#     - topology-slice-half-described
#     - USH422
#     - topology-slice-size-invalid
#     - USH423
#     - pod-set-group-of-wrong-members
#     - USH424
#     - pod-set-group-without-topology
#     - USH425
#     - topology-value-invalid
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: |
#     Keep one annotation for the placement, and name the node label of a level of the flavor's Topology, for example
#     cloud.provider.com/topology-rack. Describe slices by both podset-slice-required-topology and podset-slice-size.
#     Name a group on the template of the leader and on the template of its workers, with the same topology on both.
package usher.checks.queueing.topology_annotations_refused

import data.usher.lib.kueue
import data.usher.lib.kueue_topology
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some index, pod_set in kueue.topology_pod_sets
	reasons := sort(kueue_topology.reasons[index])
	[_, annotation, _, _] := reasons[0]
	texts := [text | some [_, _, text, _] in reasons]
	remedies := [remedy | some [_, _, _, remedy] in reasons]

	finding := {
		"path": kueue.annotation_path(pod_set, annotation),
		"message": $"Kueue refuses the topology annotations of {workload.pod_set_name(pod_set)}: {concat("; ", texts)}",
		"remedy": concat("; ", remedies),
	}
}

# Kueue reads it as a request for topology-aware scheduling without a level.
deny contains finding if {
	some index, pod_set in kueue.topology_pod_sets
	not kueue_topology.reasons[index]
	value := pod_set.annotations[kueue.unconstrained_topology]
	value in kueue_topology.false_flags
	not kueue_topology.names_level(pod_set)

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.unconstrained_topology),
		"message": $"podset-unconstrained-topology {text.excerpt(value)} asks for topology-aware scheduling and names no level, so Kueue never admits {workload.pod_set_name(pod_set)}",
		"remedy": "remove the annotation, or set it to true",
		"assumption": "usher assumes a Kueue without the change of kueue#15262 (September 2026)",
	}
}

# Kueue places whole slices, and the gate of the other pods stays (kubernetes-sigs/kueue#15277).
deny contains finding if {
	some index, pod_set in kueue.topology_pod_sets
	not kueue_topology.reasons[index]
	kueue.queued_as_one
	size := kueue.whole_number(pod_set.annotations[kueue.slice_size])
	number := _pods_of_one_workload(pod_set)
	rest := number % size
	rest > 0

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.slice_size),
		"message": $"slices of {size} leave {rest} of the {number} pods over, and Kueue never removes the scheduling gate of these",
		"remedy": "set podset-slice-size to a divisor of the number of pods",
		"assumption": "usher assumes a Kueue that admits part of the pods (kueue#15277, September 2026)",
	}
}

_pods_of_one_workload(pod_set) := pod_set.pods.maximum if {
	input.workload.group in ["batch", "kubeflow.org"]
	pod_set.pods.minimum == pod_set.pods.maximum
}

_pods_of_one_workload(pod_set) := input.object.leaderWorkerSet.spec.leaderWorkerTemplate.size - 1 if {
	endswith(pod_set.path, "/workerTemplate")
	some other in input.podSets
	endswith(other.path, "/leaderTemplate")
}
