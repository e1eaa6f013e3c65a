"""Reads an object inside another one by its own kind, for kinds that hold whole objects (AppWrapper)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from usher import model, paths
from usher.kinds.kind import Kind
from usher.reading.context import Context, FindInner, Inner
from usher.reading.templates import Template
from usher.reading.values import MAX_PODS, Reading


def finder(kinds: Mapping[tuple[str, str], Kind]) -> FindInner:
    """A reader of inner objects for these kinds, which are given by group and kind."""

    def find(value: Mapping[str, paths.Json], context: Context) -> Inner | None:
        api_version, kind = value.get("apiVersion"), value.get("kind")
        if not isinstance(api_version, str) or not isinstance(kind, str):
            return None
        group, _, version = api_version.rpartition("/")
        known = kinds.get((group, kind))
        if known is None or known.pods is None:
            return None
        reading = Reading(context)
        return Inner(
            versions=known.versions,
            is_template=known.pods.is_template,
            templates=tuple(known.pods.templates(value, reading)) if version in known.versions else None,
            unknowns=reading.found(),
            references=reading.references,
        )

    return find


class Inside(NamedTuple):
    """The inner object that decides how the pods of an object start, with its place."""

    value: paths.Object
    path: str
    kind: str
    pod_sets: tuple[model.PodSet, ...]


def deciding(
    value: paths.Object, key: tuple[str, str], templates: Sequence[Template], pod_sets: Sequence[model.PodSet]
) -> Inside | None:
    """The inner object of a group and kind with the most pods, preferring objects that request accelerators.

    Args:
        value: the object that holds it.
        key: the group and kind that decide the role.
        templates: all templates of the holding object.
        pod_sets: the pod sets of the templates, in the same order.
    """
    found: dict[str, list[model.PodSet]] = {}
    for template, pod_set in zip(templates, pod_sets, strict=True):
        if template.inner_kind == key:
            found.setdefault(template.inner_path, []).append(pod_set)
    if not found:
        return None
    path = max(found, key=lambda each: (any(one.asks_accelerators for one in found[each]), _pods(found[each])))
    inner = paths.resolve(value, path)
    return Inside(inner if isinstance(inner, dict) else {}, path, key[1], tuple(found[path]))


def _pods(pod_sets: Sequence[model.PodSet]) -> int:
    return sum(MAX_PODS if pod_set.count.maximum is None else pod_set.count.maximum for pod_set in pod_sets)
