"""Turns any object into a Workload. Pure; no manifest makes it raise, and it never changes one."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.kinds import registry
from usher.kinds.kind import Kind, Pods
from usher.reading import lookup, search
from usher.reading import shapes as reading_shapes
from usher.reading.context import Context
from usher.reading.values import Reading
from usher.workloads import identity, inner_objects, totals, unrecognised
from usher.workloads.claims import Claims
from usher.workloads.pod_sets import pod_set
from usher.workloads.roles import DEFAULT, Roles, Subject, inner_kind

_OF_KUEUE: Final = "kueue.x-k8s.io/"
_FIND_INNER: Final = inner_objects.finder(registry.WORKLOADS)


def view(value: paths.Object, group: str, kind: str, reading: Reading) -> Mapping[str, Any]:
    """The shape of an object below the key of its kind; empty for a kind without a shape."""
    known = registry.SHAPES.get((group, kind))
    if known is None:
        return {}
    return {known.key: reading_shapes.read(known.adapter, value, paths.ROOT, reading.unknown_once)}


def read(value: paths.Object, *, namespace: str) -> model.Workload:
    """An object without pods, of a kind with a shape."""
    group, version, kind = identity.group_version_kind(value)
    known = registry.BY_KEY[group, kind]
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    if version not in known.versions:
        versions = " and ".join(known.versions)
        reading.unknown("/apiVersion", f"{kind} is known in {versions}, not in {version or 'none'}: not judged")
    named = reading.text(metadata.get("name"), "/metadata/name")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    if (group, kind) == ("", "Namespace"):
        within = named  # entries of usher.yaml for a namespace apply to its objects and to itself
    elif known.cluster_scoped:
        within = ""
    return model.Workload(
        group=group,
        version=version,
        kind=kind,
        namespace=within,
        name=named or reading.text(metadata.get("generateName"), "/metadata/generateName"),
        labels=reading.strings(metadata.get("labels"), "/metadata/labels"),
        annotations=reading.strings(metadata.get("annotations"), "/metadata/annotations"),
        role=model.Role.UNKNOWN,
        owner=None,
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=False,
        pod_sets=(),
        gang=model.Gang(wanted=False),
        view=view(value, group, kind, reading) if version in known.versions else {},
        makes_pods=False,
        exists=bool(metadata.get("uid")),
        unknowns=reading.found(),
    )


def normalise(
    value: paths.Object,
    *,
    vocabulary: Vocabulary,
    namespace: str = "",
    objects: lookup.Lookup = lookup.NOTHING,
    roles: Roles = DEFAULT,
) -> model.Workload | None:
    """The workload of an object, or an object without pods that rules read; None for any other object.

    Args:
        value: the object as JSON, with `apiVersion` and `kind`.
        vocabulary: which resources are accelerators.
        namespace: the namespace of an object without one (admission knows it, a file may not).
        objects: looks up objects that the object refers to by name.
        roles: gives the workload its role.
    """
    group, version, kind = identity.group_version_kind(value)
    if (group, kind) in registry.OBJECTS:
        return read(value, namespace=namespace)
    if (group, kind) in registry.BOUNDS_OF_NODES:
        return None
    known = registry.WORKLOADS.get((group, kind))
    if known is None or known.pods is None or version not in known.versions:
        return unrecognised.read(value, known=known, namespace=namespace, vocabulary=vocabulary)
    return _recognised(
        value,
        known,
        known.pods,
        version=version,
        vocabulary=vocabulary,
        namespace=namespace,
        objects=objects,
        roles=roles,
    )


def _recognised(  # noqa: PLR0913 - the kind, and all arguments of `normalise`
    value: paths.Object,
    known: Kind,
    pods: Pods,
    *,
    version: str,
    vocabulary: Vocabulary,
    namespace: str,
    objects: lookup.Lookup,
    roles: Roles,
) -> model.Workload:
    """The workload of an object with a known kind and version."""
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    namespace = "" if known.cluster_scoped else within
    reading.context = Context(namespace, objects, _FIND_INNER)
    claims: Claims = {}
    templates = tuple(pods.templates(value, reading))
    pod_sets = tuple(
        pod_set(template, reading=reading, vocabulary=vocabulary, known_claims=claims) for template in templates
    )
    _find_misplaced(value, pod_sets, known, reading)
    labels, annotations = _labels_and_annotations(metadata, pod_sets, reading)
    owner = identity.owner(metadata, reading)
    deciding = inner_kind(templates, pod_sets)
    (_, holding), making = deciding or (("", ""), pods)
    subject = Subject(
        group=known.group,
        kind=known.kind,
        namespace=namespace,
        labels=labels,
        pod_sets=pod_sets,
        own=making,
        inner_kind=holding,
        owner_kind="" if owner is None else owner.kind,
        owning=None if owner is None else registry.PODS.get((owner.group, owner.kind)),
    )
    purpose = roles.of(subject, reading)
    # Other versions have fewer fields.
    lifecycle = pods.lifecycle_places if version == known.versions[0] else model.NO_LIFECYCLE_PLACES
    return model.Workload(
        group=known.group,
        version=version,
        kind=known.kind,
        namespace=namespace,
        name=identity.name(metadata, reading, value),
        labels=labels,
        annotations=annotations,
        role=purpose.role,
        role_reason=purpose.reason,
        role_refusal=purpose.refusal,
        owner=owner,
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=_suspended(value, pods, reading),
        pod_sets=pod_sets,
        gang=identity.gang(
            inner_objects.deciding(value, deciding[0], templates, pod_sets) if deciding is not None else None,
            inner_objects.Inside(value, paths.ROOT, known.kind, pod_sets),
            own=making,
            waits=any(each.waits for each in templates) or (purpose.role is model.Role.TRAINING and purpose.spans_pods),
            metadata=(labels, annotations),
            reading=reading,
        ),
        totals=totals.of_pod_sets(pod_sets),
        is_template=pods.is_template,
        queue_label_path=_queue_label_path(value, pods, reading),
        queue_labels=_queue_labels(value, labels, pods, pod_sets, reading),
        view=view(value, known.group, known.kind, reading),
        gang_places=pods.gang_places,
        lifecycle_places=lifecycle,
        managed_by=_managed_by(value, lifecycle, reading),
        exists=bool(metadata.get("uid")),
        gang_native=pods.gang_native,
        unknowns=reading.found(),
    )


def _labels_and_annotations(
    metadata: Mapping[str, paths.Json], pod_sets: tuple[model.PodSet, ...], reading: Reading
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    if pod_sets and pod_sets[0].path == paths.ROOT:
        # A Pod is its own template, whose metadata were already read.
        return pod_sets[0].labels, pod_sets[0].annotations
    labels = reading.strings(metadata.get("labels"), "/metadata/labels")
    return labels, reading.strings(metadata.get("annotations"), "/metadata/annotations")


def _find_misplaced(value: paths.Object, pod_sets: tuple[model.PodSet, ...], known: Kind, reading: Reading) -> None:
    """Records misplaced pod specs in an object without a pod spec at the place of its kind."""
    if pod_sets and all(pod_set.containers for pod_set in pod_sets):
        return
    told = {unknown.path for unknown in reading.unknowns}
    told.update(each.spec_path for each in pod_sets)
    templates = {each.path for each in pod_sets}
    for found in search.pod_specs(value) or ():
        holders = list(_holders(found))
        if told.isdisjoint((found, *holders)) and templates.isdisjoint(holders):
            reading.unknown(found, f"{known.kind} has no pod spec here, so it is not judged")


def _holders(pointer: str) -> Iterator[str]:
    """The pointers to everything that contains a place."""
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def _queue_label_path(value: paths.Object, pods: Pods, reading: Reading) -> str | None:
    """The path for a queue label; None if the labels are not an object."""
    path = pods.queue_label_path
    if path is None:
        return None
    found = reading.descend(value, path).get("labels")
    return path if found is None or isinstance(found, dict) else None


def _queue_labels(
    value: paths.Object,
    labels: Mapping[str, str],
    pods: Pods,
    pod_sets: tuple[model.PodSet, ...],
    reading: Reading,
) -> Mapping[str, str]:
    """The labels that Kueue reads, with those that all templates with accelerators share."""
    path = pods.queue_label_path
    if path is None:
        return {}
    if path != "/metadata":
        metadata = reading.descend(value, path)
        labels = reading.strings(metadata.get("labels"), path + "/labels")
    of_templates = [each.labels for each in pod_sets if each.asks_accelerators and each.own_metadata_path]
    first, *others = of_templates or [labels]
    common = {
        key: text
        for key, text in first.items()
        if key.startswith(_OF_KUEUE) and key not in labels and all(each.get(key) == text for each in others)
    }
    return {**labels, **common} if common else labels


def _suspended(value: paths.Object, pods: Pods, reading: Reading) -> bool:
    if pods.suspend_path is None:
        return False
    parent, _, field = pods.suspend_path.rpartition("/")
    return reading.flag(reading.descend(value, parent).get(field), pods.suspend_path)


def _managed_by(value: paths.Object, places: model.LifecyclePlaces, reading: Reading) -> str:
    path = places.managed_by
    if path is None:
        return ""
    parent, _, _ = path.rpartition("/")
    found = reading.text(reading.descend(value, parent).get(paths.split(path)[-1]), path)
    return "" if found == places.managed_by_default else found
