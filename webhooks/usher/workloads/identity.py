"""Finds the name and the owner of a workload, and whether its pods must start together."""

from collections.abc import Mapping, Sequence
from typing import Final

from usher import model, paths
from usher.kinds.kind import MINIMUM_OF_OWNER, Pods
from usher.kinds.kubeflow_pipelines import compiled
from usher.reading.values import Reading
from usher.workloads.inner_objects import Inside

_GANG_ANNOTATIONS: Final[Mapping[str, str]] = {
    "scheduling.k8s.io/group-name": "a PodGroup of Volcano",
    MINIMUM_OF_OWNER: "a PodGroup that Volcano makes for the owner",
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "pod-group-name": "a pod group of KAI-Scheduler",
}
_OF_OPERATORS: Final[Mapping[str, str]] = {
    "volcano": "a PodGroup of Volcano that its operator makes",
    "coscheduling": "a PodGroup of the coscheduling plugin that its operator makes",
}
_GANG_LABELS: Final[Mapping[str, str]] = {
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "scheduling.x-k8s.io/pod-group": "a PodGroup of the coscheduling plugin",
}


def group_version_kind(value: paths.Object) -> tuple[str, str, str]:
    """The group, version and kind of an object; empty if missing. For a compiled pipeline, they follow from
    its form.
    """
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if api_version is None and kind is None:
        return compiled.group_version_kind(value)
    group, _, version = (api_version if isinstance(api_version, str) else "").rpartition("/")
    return group, version, kind if isinstance(kind, str) else ""


def owner(metadata: Mapping[str, paths.Json], reading: Reading) -> model.Owner | None:
    """The controlling owner. It is not verified, because any user can write an owner reference."""
    found = None
    for path, reference in reading.items(metadata.get("ownerReferences"), "/metadata/ownerReferences"):
        kind = reading.text(reference.get("kind"), path + "/kind")
        if reading.flag(reference.get("controller"), path + "/controller") and found is None:
            group = reading.text(reference.get("apiVersion"), path + "/apiVersion").rpartition("/")[0]
            found = model.Owner(group=group, kind=kind, name=reading.text(reference.get("name"), path + "/name"))
    return found


def name(metadata: Mapping[str, paths.Json], reading: Reading, value: paths.Object) -> str:
    """The name of an object with these metadata; a compiled pipeline has its name elsewhere.

    A name with a template variable is unknown. At CREATE an object may only have a prefix of its future name; then the
        name is the prefix and a `*`.
    """
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    for field, text in (("name", name), ("generateName", prefix)):
        if "${" in text or "{{" in text:
            reading.unknown(f"/metadata/{field}", "the name has a variable of a template; render the template first")
    return name or (f"{prefix}*" if prefix else compiled.name(value))


Metadata = tuple[Mapping[str, str], Mapping[str, str]]
"""Labels and annotations of an object."""


def gang(  # noqa: PLR0913 - the object, its inner object, their roles and metadata
    inside: Inside | None,
    whole: Inside,
    *,
    own: Pods,
    waits: bool,
    metadata: Metadata,
    reading: Reading,
) -> model.Gang:
    """The gang of an object, or of the deciding inner object if it holds others."""
    found, of_inside = whole, Reading()
    every = [metadata]
    if inside is not None:
        found = inside
        named = of_inside.mapping(inside.value.get("metadata"), "/metadata")
        every.append(
            (
                of_inside.strings(named.get("labels"), "/metadata/labels"),
                of_inside.strings(named.get("annotations"), "/metadata/annotations"),
            )
        )
    minimum = _gang_minimum(found.value, own, of_inside)
    priority_class = _gang_class(found.value, own, of_inside)
    for unknown in of_inside.unknowns:
        reading.unknown_once(found.path + unknown.path, unknown.reason)
    return _of_pods(
        found.kind,
        own=own,
        waits=waits,
        pod_sets=found.pod_sets,
        metadata=every,
        minimum=minimum,
        priority_class=priority_class,
    )


def _of_pods(  # noqa: PLR0913 - all possible reasons for a gang
    kind: str,
    *,
    own: Pods,
    waits: bool,
    pod_sets: tuple[model.PodSet, ...],
    metadata: Sequence[Metadata],
    minimum: int | None,
    priority_class: str,
) -> model.Gang:
    """The gang of a workload. It is wanted if several pods wait for each other, or if something forms it.

    Args:
        kind: the kind of the object, or of the deciding inner object.
        own: how this kind makes pods.
        waits: whether the pods train one model or show that they wait, for any kind.
        pod_sets: the pod sets of the object, or of the deciding inner object.
        metadata: labels and annotations of the object, and of the inner object.
        minimum: how many pods start together, if the object sets it.
        priority_class: the class of the gang, if the object names one outside its templates.
    """
    formed_by = f"its kind, {kind}" if own.gang_native else _formed_by(pod_sets, metadata)
    if not formed_by and minimum is not None:
        formed_by = "its operator, if it is configured to"
    together = [pod_set.count.maximum for pod_set in pod_sets if not pod_set.in_turns]
    several = sum(2 if most is None else most for most in together) > 1
    waiting = own.needs_gang or waits
    return model.Gang(
        wanted=bool(formed_by) or (several and waiting),
        waits=several and (waiting or own.gang_native),
        formed_by=formed_by,
        minimum=minimum,
        scheduler=_made_for(pod_sets),
        priority_class=priority_class,
    )


def _formed_by(pod_sets: tuple[model.PodSet, ...], metadata: Sequence[Metadata]) -> str:
    for holder in (*metadata, *((each.labels, each.annotations) for each in pod_sets)):
        for known, present in zip((_GANG_LABELS, _GANG_ANNOTATIONS), holder, strict=True):
            if known.keys().isdisjoint(present):
                continue
            for key, what in known.items():
                value = present.get(key)
                if value and (key != MINIMUM_OF_OWNER or value not in {"0", "1"}):
                    return what
    if any(pod_set.scheduling_group for pod_set in pod_sets):
        return "an in-tree PodGroup"
    return _OF_OPERATORS.get(_made_for(pod_sets), "")


def _made_for(pod_sets: tuple[model.PodSet, ...]) -> str:
    return next((pod_set.pod_group for pod_set in pod_sets if pod_set.pod_group), "")


def _gang_minimum(value: paths.Object, pods: Pods, reading: Reading) -> int | None:
    path = pods.gang_minimum_path or pods.gang_places.minimum
    # A number in an annotation is a text, which makes a gang of itself (`identity`).
    if path is None or path.startswith("/metadata/annotations/"):
        return None
    minimum = _at(value, path, reading)
    if minimum is None:
        return None
    unusable = -1
    found = reading.count(minimum, path, default=unusable)
    return None if found == unusable else found


def _gang_class(value: paths.Object, pods: Pods, reading: Reading) -> str:
    path = pods.gang_places.priority_class
    return "" if path is None else reading.text(_at(value, path, reading), path)


def _at(value: paths.Object, pointer: str, reading: Reading) -> paths.Json:
    parent, _, _ = pointer.rpartition("/")
    return reading.descend(value, parent).get(paths.split(pointer)[-1])
