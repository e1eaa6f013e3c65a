"""Matches node selectors and required node affinity with the labels of a node pool (docs/domain/nodes.md#affinity).

A pod set allows several alternatives: each nodeSelectorTerm together with the node selector. Only some labels of a
pool are known, so there are two questions: "could a node of the pool fit?" and "does this alternative allow only nodes
of the pools?".
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from usher import model, paths
from usher.model import placement

Labels = placement.Labels
Alternative = tuple[Labels, Sequence[Mapping[str, paths.Json]]]
"""A node selector and the matchExpressions of one term."""

# Operators that only nodes with the label satisfy.
_PRESENT = ("In", "Exists", "Gt", "Lt")

_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)


def alternatives(pod_set: model.PodSet) -> list[Alternative]:
    """All ways in which a node may fit the pod set.

    Terms without expressions, and terms with conditions on fields that Kubernetes cannot parse, match no node, so they
    are left out (k8s.io/api core/v1, NodeSelectorTerm).
    """
    if not pod_set.has_required_affinity:
        return [(pod_set.node_selector, ())]
    found: list[Alternative] = []
    for term in pod_set.required_terms:
        expressions = [item for item in _list(term.get("matchExpressions")) if isinstance(item, dict)]
        fields = term.get("matchFields")
        if (expressions or fields) and not any(_is_unparsable_field(item) for item in _list(fields)):
            found.append((pod_set.node_selector, expressions))
    return found


def could_fit(alternative: Alternative, labels: Labels) -> bool:
    """Whether a node with these labels, and with other labels that we do not know, may fit.

    An expression with wrong types could mean anything; one that Kubernetes cannot parse matches no node.
    """
    selector, expressions = alternative
    return all(labels.get(key, value) == value for key, value in selector.items()) and all(
        _could_match(expression, labels) for expression in expressions
    )


def allows_only(alternative: Alternative, pools: Iterable[Labels]) -> bool:
    """Whether every node that fits has all labels of one of the pools; true if no node can fit."""
    required = _required_values(*alternative)
    if not all(required.values()):
        return True
    return _all_carried(required, [labels for labels in pools if labels])


def is_possible(alternative: Alternative) -> bool:
    """Whether a node may fit; false if the requirements contradict each other."""
    return all(_required_values(*alternative).values())


def names_any_key(alternative: Alternative, keys: Iterable[str]) -> bool:
    """Whether the alternative asks for nodes with one of these labels; a key that ends in * is a prefix."""
    selector, expressions = alternative
    required = [*selector, *(str(item.get("key")) for item in expressions if item.get("operator") in _PRESENT)]
    return any(name.startswith(key[:-1]) if key.endswith("*") else name == key for name in required for key in keys)


def allowed_numbers(ways: Sequence[Alternative]) -> Mapping[str, frozenset[int]]:
    """Labels that have a whole number on every node that fits, with the possible numbers.

    Numbers of more than nine digits are left out: no label of nodes counts so far.
    """
    required = [_required_values(*way) for way in ways]
    found: dict[str, frozenset[int]] = {}
    for key in sorted(set.intersection(*map(set, required))) if required else ():
        values = frozenset().union(*(values[key] for values in required))
        if all(_NUMBER.fullmatch(value) for value in values):
            found[key] = frozenset(map(int, values))
    return found


def allowed_values(ways: Sequence[Alternative], key: str) -> frozenset[str]:
    """The values of a label on the nodes that fit; empty if nodes without it, or with any value, may fit."""
    required = [_required_values(*way).get(key) for way in ways]
    known = [values for values in required if values is not None]
    return frozenset().union(*known) if len(known) == len(required) else frozenset()


def _required_values(selector: Labels, expressions: Sequence[Mapping[str, paths.Json]]) -> Mapping[str, frozenset[str]]:
    """Keys whose value must be in a set; the set is empty if the requirements contradict each other."""
    found: dict[str, frozenset[str]] = {key: frozenset({value}) for key, value in selector.items()}
    for expression in expressions:
        key, values = expression.get("key"), _strings(expression.get("values"))
        # Unreadable values could be anything, so this expression requires nothing.
        readable = bool(values) and len(values) == len(_list(expression.get("values")))
        if isinstance(key, str) and expression.get("operator") == "In" and readable:
            found[key] = found.get(key, frozenset(values)).intersection(values)
    return found


def _all_carried(required: Mapping[str, frozenset[str]], pools: Sequence[Labels]) -> bool:
    """Whether every choice of one value for each key carries all labels of one of the pools.

    It goes through the values of one key at a time. All values of a manifest that no pool names count as one, so that
    the size of usher.yaml alone bounds the work.
    """
    pools = [labels for labels in pools if all(value in required.get(key, ()) for key, value in labels.items())]
    if not all(pools):
        return True
    if not pools:
        return False
    key = next(iter(pools[0]))
    without = [labels for labels in pools if key not in labels]
    if not required[key] <= {labels[key] for labels in pools if key in labels}:
        return _all_carried(required, without)
    return all(
        _all_carried(required, [*without, *(_remaining(labels, key) for labels in pools if labels.get(key) == value)])
        for value in required[key]
    )


def _remaining(labels: Labels, key: str) -> Labels:
    return {other: value for other, value in labels.items() if other != key}


def _could_match(expression: Mapping[str, paths.Json], labels: Labels) -> bool:
    requirement = placement.read_requirement(expression)
    if requirement is None:
        return True
    if not placement.is_for_labels(requirement):
        return False
    return requirement.key not in labels or placement.labels_match(requirement, labels)


def _is_unparsable_field(expression: paths.Json) -> bool:
    requirement = placement.read_requirement(expression)
    return requirement is not None and not placement.is_for_fields(requirement)


def _list(value: object) -> list[paths.Json]:
    return value if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]
