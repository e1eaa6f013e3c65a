"""Node selectors and required node affinity against the labels of a node pool (gpu-domain S6).

A pod set allows several alternatives: each OR-ed nodeSelectorTerm together with the node selector. Of a pool we know
some labels, of its nodes' other labels nothing; so there are two questions, "could a node of the pool fit?" and
"does this alternative allow nodes of the pools only?".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usher import model, paths

Labels = Mapping[str, str]
Alternative = tuple[Labels, Sequence[Mapping[str, paths.Json]]]
"""A node selector and the matchExpressions of one term."""


def alternatives(pod_set: model.PodSet) -> list[Alternative]:
    """All ways in which a node may fit the pod set.

    Terms without expressions match nothing, so they are no alternative (k8s.io/api core/v1, NodeSelectorTerm).
    """
    if not pod_set.has_required_affinity:
        return [(pod_set.node_selector, ())]
    found: list[Alternative] = []
    for term in pod_set.required_terms:
        expressions = [item for item in _list(term.get("matchExpressions")) if isinstance(item, dict)]
        if expressions or term.get("matchFields"):
            found.append((pod_set.node_selector, expressions))
    return found


def could_fit(alternative: Alternative, labels: Labels) -> bool:
    """Whether a node with these labels, and others that we do not know, may fit."""
    selector, expressions = alternative
    return all(labels.get(key, value) == value for key, value in selector.items()) and all(
        _could_match(expression, labels) for expression in expressions
    )


def allows_only(alternative: Alternative, pools: Iterable[Labels]) -> bool:
    """Whether every node that fits carries all labels of one of the pools."""
    selector, expressions = alternative
    required = dict(_required_values(selector, expressions))
    covered = [
        labels for labels in pools if labels and all(value in required.get(key, ()) for key, value in labels.items())
    ]
    return any(
        required[key] <= {labels[key] for labels in covered if key in labels} for labels in covered for key in labels
    )


def names_any_key(alternative: Alternative, keys: Iterable[str]) -> bool:
    """Whether the alternative restricts one of these labels at all; a key ending in * is a prefix."""
    selector, expressions = alternative
    restricted = [*selector, *(str(item.get("key")) for item in expressions if item.get("operator") != "DoesNotExist")]
    return any(name.startswith(key[:-1]) if key.endswith("*") else name == key for name in restricted for key in keys)


def _required_values(
    selector: Labels, expressions: Sequence[Mapping[str, paths.Json]]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Keys whose value must be one of a set."""
    found: dict[str, frozenset[str]] = {key: frozenset({value}) for key, value in selector.items()}
    for expression in expressions:
        key = expression.get("key")
        if isinstance(key, str) and expression.get("operator") == "In":
            values = frozenset(str(value) for value in _list(expression.get("values")))
            found[key] = found[key] & values if key in found else values
    yield from found.items()


def _could_match(expression: Mapping[str, paths.Json], labels: Labels) -> bool:
    key, operator = expression.get("key"), expression.get("operator")
    if key not in labels:
        return True
    actual = labels[str(key)]
    values = [str(value) for value in _list(expression.get("values"))]
    if operator == "In":
        return actual in values
    if operator == "NotIn":
        return actual not in values
    if operator in ("Gt", "Lt"):
        return _compares(actual, values, operator)
    return operator != "DoesNotExist"


def _compares(actual: str, values: list[str], operator: str) -> bool:
    try:
        left, right = int(actual), int(values[0])
    except (ValueError, IndexError):
        return False
    return left > right if operator == "Gt" else left < right


def _list(value: object) -> list[paths.Json]:
    return value if isinstance(value, list) else []
