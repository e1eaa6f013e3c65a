# METADATA
# title: Kueue's topology annotations have valid values
# description: |
#   podset-required-topology, podset-preferred-topology and podset-slice-required-topology name a node label.
#   podset-unconstrained-topology is true or false. podset-slice-required-topology-constraints is a JSON array of one to
#   three levels. podset-group-name is not a number. Kueue's webhooks refuse all other values.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
#     description: Kubernetes on label keys
# schemas:
#   - input: schema.input
# custom:
#   code: USH425
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: |
#     Name the node label of a level of the flavor's Topology, for example cloud.provider.com/topology-rack.
package usher.checks.queueing.topology_value_invalid

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

_expected := {
	kueue.required_topology: "the key of a node label",
	kueue.preferred_topology: "the key of a node label",
	kueue.slice_topology: "the key of a node label",
	kueue.unconstrained_topology: "true or false",
	kueue.slice_constraints: "a JSON array of one to three levels",
	kueue.pod_set_group: "a name with a letter in it",
}

# The values that Go reads as true or false.
_flags := {"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"}

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	some annotation, expected in _expected
	value := pod_set.annotations[annotation]
	not _understood(annotation, value)

	finding := {
		"path": kueue.annotation_path(pod_set, annotation),
		"message": $"{workload.pod_set_name(pod_set)}: {annotation} {text.excerpt(value)} is not {expected}, so Kueue refuses it",
		"remedy": $"set it to {expected}",
	}
}

_understood(annotation, value) if {
	annotation in {kueue.required_topology, kueue.preferred_topology, kueue.slice_topology}
	_is_label_key(value)
}

_understood(annotation, value) if {
	annotation == kueue.unconstrained_topology
	value in _flags
}

_understood(annotation, value) if {
	annotation == kueue.slice_constraints
	json.is_valid(value)
	levels := json.unmarshal(value)
	is_array(levels)
	count(levels) in {1, 2, 3}
}

_understood(annotation, value) if {
	annotation == kueue.pod_set_group
	not _is_number(value)
}

_is_number(value) if {
	value != ""
	trim(value, "0123456789") == ""
}

_is_label_key(key) if _is_label_name(key)

_is_label_key(key) if {
	[prefix, name] := split(key, "/")
	kueue.is_object_name(prefix)
	_is_label_name(name)
}

_is_label_name(name) if {
	name != ""
	count(name) <= 63
	lowered := lower(name)
	trim(lowered, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
	trim(lowered, "-_.") == lowered
}
