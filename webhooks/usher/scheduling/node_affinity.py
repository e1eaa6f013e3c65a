"""Matches node selector and required node affinity with one node whose labels are all known.

The rules are those of GetRequiredNodeAffinity in k8s.io/component-helpers scheduling/corev1/nodeaffinity. For nodes of
a pool, usher knows only some labels: `pool_fit` matches those.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from usher import model, paths
from usher.scheduling import requirements
from usher.scheduling.requirements import Labels, Requirement


class Term(NamedTuple):
    """One term of required node affinity: a node must meet all of its requirements."""

    on_labels: list[Requirement]
    on_fields: list[Requirement]


def matches(pod_set: model.PodSet, *, labels: Labels, name: str) -> bool:
    """Whether node selector and required affinity allow the pods on a node with this name and exactly these labels.

    A term that is empty or that cannot be parsed matches no node.
    """
    if any(labels.get(key) != value for key, value in pod_set.node_selector.items()):
        return False
    if not pod_set.has_required_affinity:
        return True
    return any(term_matches(term, labels=labels, name=name) for term in pod_set.required_terms)


def parsed(term: Mapping[str, paths.Json]) -> Term | None:
    """The requirements of a term; None if it matches no node, because it is empty or cannot be parsed."""
    on_labels = _parsed(term.get("matchExpressions"), requirements.is_for_labels)
    on_fields = _parsed(term.get("matchFields"), requirements.is_for_fields)
    if on_labels is None or on_fields is None or not (on_labels or on_fields):
        return None
    return Term(on_labels, on_fields)


def term_matches(term: Mapping[str, paths.Json], *, labels: Labels, name: str) -> bool:
    """Whether a node of this name with exactly these labels meets a term of required affinity."""
    found = parsed(term)
    if found is None:
        return False
    # The code of Kubernetes skips fields for a node without a name.
    return all(requirements.labels_match(requirement, labels) for requirement in found.on_labels) and (
        not name or all(requirements.name_matches(requirement, name) for requirement in found.on_fields)
    )


def _parsed(expressions: paths.Json, is_legal: Callable[[Requirement], bool]) -> list[Requirement] | None:
    """The requirements of one list; None if one of them cannot be parsed."""
    if not isinstance(expressions, list | None):
        return None
    found: list[Requirement] = []
    for expression in expressions or ():
        requirement = requirements.read(expression)
        if requirement is None or not is_legal(requirement):
            return None
        found.append(requirement)
    return found
