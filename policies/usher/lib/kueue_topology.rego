# METADATA
# title: Topology annotations of Kueue
# description: Why Kueue's webhooks refuse the topology annotations of a template.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.kueue_topology

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

# METADATA
# title: Reasons by index in kueue.topology_pod_sets
# description: Each is [rank, annotation, reason, remedy]. A reason that explains others has a smaller rank.
reasons[index] contains [1, annotation, reason, $"set {_short(annotation)} to {expected}"] if {
	some index, pod_set in kueue.topology_pod_sets
	some annotation, expected in _expected
	value := pod_set.annotations[annotation]
	not _understood(annotation, value)
	reason := $"{_short(annotation)} {text.excerpt(value)} is not {expected}"
}

reasons[index] contains [2, present[0], $"{names} exclude each other", "keep one of them"] if {
	some index, pod_set in kueue.topology_pod_sets
	present := [annotation | some annotation in _placements; pod_set.annotations[annotation]]
	count(present) > 1
	names := concat(" and ", [_short(annotation) | some annotation in present])
}

reasons[index] contains [2, annotation, reason, $"keep {_short(annotation)} or {others}, not both"] if {
	some index, pod_set in kueue.topology_pod_sets
	some annotation, excluded in _exclusive
	pod_set.annotations[annotation]
	present := [_short(other) | some other in excluded; pod_set.annotations[other]]
	present != []
	others := concat(" and ", present)
	reason := $"{_short(annotation)} excludes {others}"
}

# Beside the constraints for several levels it is one of the exclusions, and adding the other half does not help.
reasons[index] contains [3, annotation, reason, remedy] if {
	some index, pod_set in kueue.topology_pod_sets
	some [annotation, missing] in [[kueue.slice_topology, kueue.slice_size], [kueue.slice_size, kueue.slice_topology]]
	pod_set.annotations[annotation]
	not pod_set.annotations[missing]
	not pod_set.annotations[kueue.slice_constraints]
	reason := $"{_short(annotation)} needs {_short(missing)}"
	remedy := $"set {_short(missing)} too, or remove {_short(annotation)}"
}

reasons[index] contains [4, kueue.slice_size, reason, remedy] if {
	some index, pod_set in kueue.topology_pod_sets
	size := pod_set.annotations[kueue.slice_size]
	kueue.queued_as_one
	kueue.whole_number(size) > pod_set.pods.maximum
	reason := $"slices have {size} pods, but there are at most {pod_set.pods.maximum} pods"
	remedy := $"set {_short(kueue.slice_size)} to {pod_set.pods.maximum} or less"
}

reasons[members[0]] contains [5, kueue.pod_set_group, reason, "name the group on the leader and its workers only"] if {
	some group, members in _groups
	count(members) != 2
	reason := $"pod set group {text.excerpt(group)} consists of {_names(members)}, not of exactly 2 pod sets"
}

reasons[members[0]] contains [5, kueue.pod_set_group, reason, remedy] if {
	some group, members in _groups
	input.workload.kind != "LeaderWorkerSet"
	count(members) == 2
	every index in members {
		kueue.topology_pod_sets[index].pods.minimum > 1
	}
	reason := $"neither {concat(" nor ", _list(members))} of pod set group {text.excerpt(group)} has a single pod"
	remedy := "give one of the two a single pod, or place them separately"
}

reasons[index] contains [6, kueue.pod_set_group, reason, "name the level that the group requires or prefers"] if {
	some index, pod_set in kueue.topology_pod_sets
	group := pod_set.annotations[kueue.pod_set_group]
	not _has_level(pod_set)
	levels := concat(" nor ", [_short(level) | some level in _levels])
	reason := $"pod set group {text.excerpt(group)} has neither {levels}"
}

reasons[index] contains [6, annotation, reason, "name the same level on both"] if {
	some group, members in _groups
	other := kueue.topology_pod_sets[members[0]]
	some index in members
	levels := _levels_of(kueue.topology_pod_sets[index])
	_levels_of(other) != levels
	annotation := [level | some level, _ in levels][0]
	_has_level(other)
	reason := $"{workload.pod_set_name(other)} of pod set group {text.excerpt(group)} has another topology level"
}

_levels := [kueue.required_topology, kueue.preferred_topology]

_has_level(pod_set) if {
	some level in _levels
	pod_set.annotations[level]
}

_levels_of(pod_set) := object.filter(pod_set.annotations, _levels)

# Indexes of the members of each group, for the kinds whose groups Kueue compares.
_groups[group] := sort(indexes) if {
	kueue.judges_groups
	some group, indexes in _indexes
}

_indexes[group] contains index if {
	some index, pod_set in kueue.topology_pod_sets
	group := pod_set.annotations[kueue.pod_set_group]
}

_names(members) := concat(" and ", _list(members))

_list(members) := [workload.pod_set_name(kueue.topology_pod_sets[index]) | some index in members]

_short(annotation) := trim_prefix(annotation, "kueue.x-k8s.io/")

_placements := [kueue.required_topology, kueue.preferred_topology, kueue.unconstrained_topology]

_exclusive := {
	kueue.slice_constraints: [kueue.slice_topology, kueue.slice_size],
	kueue.pod_set_group: [kueue.slice_topology, kueue.slice_size, kueue.slice_constraints],
}

_expected := {
	kueue.required_topology: "the key of a node label",
	kueue.preferred_topology: "the key of a node label",
	kueue.slice_topology: "the key of a node label",
	kueue.unconstrained_topology: "true or false",
	kueue.slice_size: "a whole number of at least 1",
	kueue.slice_constraints: "a JSON array of one to three levels",
	kueue.pod_set_group: "a name with a letter in it",
}

# METADATA
# title: The values that Go reads as false
false_flags := {"0", "f", "F", "FALSE", "false", "False"}

# METADATA
# title: Whether a template names a topology level
names_level(pod_set) if _has_level(pod_set)

names_level(pod_set) if pod_set.annotations[kueue.slice_topology]

# The values that Go reads as true or false.
_flags := {"1", "t", "T", "TRUE", "true", "True"} | false_flags

_understood(annotation, value) if {
	annotation in [kueue.required_topology, kueue.preferred_topology, kueue.slice_topology]
	_is_label_key(value)
}

_understood(annotation, value) if {
	annotation == kueue.unconstrained_topology
	value in _flags
}

_understood(annotation, value) if {
	annotation == kueue.slice_size
	kueue.whole_number(value) >= 1
}

_understood(annotation, value) if {
	annotation == kueue.slice_constraints
	json.is_valid(value)
	levels := json.unmarshal(value)
	is_array(levels)
	count(levels) in [1, 2, 3]
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
