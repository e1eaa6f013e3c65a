"""Turns any object into a Workload. Pure; no manifest makes it raise, and it never changes one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import memo, model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.kinds import registry
from usher.kinds.kind import MINIMUM_OF_OWNER, Kind, Pods, minimum_of_owner
from usher.kinds.reading import pod_templates, values
from usher.kinds.reading import shapes as reading_shapes
from usher.kinds.reading.counts import nearest_object, nearest_pointer
from usher.kinds.reading.templates import AS_CONFIGURED, JOB_CONTROLLER, Template
from usher.kinds.reading.values import MAX_PODS, Context, FindInner, Inner, Reading
from usher.workloads import identity, unrecognised
from usher.workloads import pod_sets as workloads_pod_sets
from usher.workloads.claims import CLAIM_GROUP, Claims, mark_accelerators
from usher.workloads.pod_sets import read_pod_set
from usher.workloads.roles import DEFAULT_ROLES, Roles, Subject, inner_kind, serving_part


def inner_finder(kinds: Mapping[tuple[str, str], Kind]) -> FindInner:
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


class InnerObject(NamedTuple):
    """The inner object that decides how the pods of an object start, with its place."""

    value: paths.Object
    path: str
    kind: str
    pod_sets: tuple[model.PodSet, ...]


def deciding_object(
    value: paths.Object, key: tuple[str, str], templates: Sequence[Template], pod_sets: Sequence[model.PodSet]
) -> InnerObject | None:
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
    path = max(found, key=lambda each: (any(one.asks_accelerators for one in found[each]), _count_pods(found[each])))
    inner = paths.resolve(value, path)
    return InnerObject(inner if isinstance(inner, dict) else {}, path, key[1], tuple(found[path]))


def _count_pods(pod_sets: Sequence[model.PodSet]) -> int:
    return sum(MAX_PODS if pod_set.count.maximum is None else pod_set.count.maximum for pod_set in pod_sets)


_GANG_ANNOTATIONS: Final[Mapping[str, str]] = {
    "scheduling.k8s.io/group-name": "a PodGroup of Volcano",
    MINIMUM_OF_OWNER: "a PodGroup that Volcano makes for the owner",
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "pod-group-name": "a pod group of KAI-Scheduler",
}
_OF_OPERATORS: Final[Mapping[str, str]] = {
    "volcano": "a PodGroup of Volcano that its operator makes",
    "coscheduling": "a PodGroup of the coscheduling plugin that its operator makes",
    "kai-scheduler": "a PodGroup of KAI-Scheduler that its operator makes",
    AS_CONFIGURED: model.GANG_IF_CONFIGURED,
    JOB_CONTROLLER: model.GANG_OF_JOBS,
}
_GANG_LABELS: Final[Mapping[str, str]] = {
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "scheduling.x-k8s.io/pod-group": "a PodGroup of the coscheduling plugin",
}

Metadata = tuple[Mapping[str, str], Mapping[str, str]]
"""Labels and annotations of an object."""


def gang_of_object(  # noqa: PLR0913 - the object, its inner object, their roles and metadata
    inside: InnerObject | None,
    outer: InnerObject,
    *,
    own: Pods,
    waits: bool,
    metadata: Metadata,
    reading: Reading,
) -> model.Gang:
    """The gang of an object, or of the deciding inner object if it holds others."""
    found, of_inside = outer, Reading()
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
    return _gang_of_pods(
        found.kind,
        own=own,
        waits=waits,
        pod_sets=found.pod_sets,
        metadata=every,
        minimum=minimum,
        priority_class=priority_class,
    )


def _gang_of_pods(  # noqa: PLR0913 - all possible reasons for a gang
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
        formed_by = model.GANG_IF_CONFIGURED
    if minimum is None and _made_for(pod_sets):
        minimum = _together(pod_sets)
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
    """The PodGroup or operator that makes a gang of the pods; empty without one."""
    templates = [(each.labels, each.annotations) for each in pod_sets]
    for holder in (*metadata, *templates):
        for known, present in zip((_GANG_LABELS, _GANG_ANNOTATIONS), holder, strict=True):
            if known.keys().isdisjoint(present):
                continue
            for key, what in known.items():
                # Volcano reads the number on the owner of the pods alone (VC:pg_controller_handler.go:312).
                if present.get(key) and (key != MINIMUM_OF_OWNER or _is_of_owner(present, templates)):
                    return what
    if any(pod_set.scheduling_group for pod_set in pod_sets):
        return model.GANG_OF_KUBERNETES
    return _OF_OPERATORS.get(_made_for(pod_sets), "")


def _is_of_owner(annotations: Mapping[str, str], templates: Sequence[Metadata]) -> bool:
    """Whether these are annotations of an owner, with which Volcano makes a group of several pods."""
    return all(annotations is not each for _, each in templates) and (minimum_of_owner(annotations) or 0) > 1


def _together(pod_sets: tuple[model.PodSet, ...]) -> int | None:
    """How many pods the operator's PodGroup waits for, the smallest where it makes several."""
    if any(each.together is None for each in pod_sets):
        return None
    return sum(min(each.together or 0, each.count.minimum) for each in pod_sets) or None


def _made_for(pod_sets: tuple[model.PodSet, ...]) -> str:
    return next((pod_set.pod_group for pod_set in pod_sets if pod_set.pod_group), "")


def _gang_minimum(value: paths.Object, pods: Pods, reading: Reading) -> int | None:
    path = pods.gang_minimum_path or pods.gang_places.minimum
    # A number in an annotation is a text, which makes a gang of itself (`identity`).
    if path is None or path.startswith("/metadata/annotations/"):
        return None
    minimum = _value_at(value, path, reading)
    if minimum is None:
        return None
    unusable = -1
    found = reading.count(minimum, path, default=unusable)
    return None if found == unusable else found


def _gang_class(value: paths.Object, pods: Pods, reading: Reading) -> str:
    path = pods.gang_places.priority_class
    return "" if path is None else reading.text(_value_at(value, path, reading), path)


def _value_at(value: paths.Object, pointer: str, reading: Reading) -> paths.Json:
    parent, _, _ = pointer.rpartition("/")
    return reading.descend(value, parent).get(paths.split(pointer)[-1])


_OF_KUEUE: Final = "kueue.x-k8s.io/"
_FIND_INNER: Final = inner_finder(registry.WORKLOADS)


def shape_of_object(value: paths.Object, group: str, kind: str, reading: Reading) -> Mapping[str, Any]:
    """The shape of an object below the key of its kind; empty for a kind without a shape."""
    known = registry.SHAPES.get((group, kind))
    if known is None:
        return {}
    return {known.key: reading_shapes.read_shape(known.adapter, value, paths.ROOT, reading.unknown_once)}


def read_object(
    value: paths.Object, *, vocabulary: Vocabulary, namespace: str, objects: values.Lookup = values.NO_OBJECTS
) -> model.Workload:
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
    view = shape_of_object(value, group, kind, reading) if version in known.versions else {}
    if group == CLAIM_GROUP:
        mark_accelerators(view, context=Context(within, objects, _FIND_INNER), vocabulary=vocabulary)
    found = identity.without_pods(
        value,
        namespace=within,
        name=named or reading.text(metadata.get("generateName"), "/metadata/generateName"),
    )
    return replace(
        found,
        labels=reading.strings(metadata.get("labels"), "/metadata/labels"),
        annotations=reading.strings(metadata.get("annotations"), "/metadata/annotations"),
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        view=view,
        makes_pods=False,
        exists=bool(metadata.get("uid")),
        unknowns=reading.found(),
    )


def normalise(  # noqa: PLR0913 - the object, and what reads it
    value: paths.Object,
    *,
    vocabulary: Vocabulary,
    namespace: str = "",
    objects: values.Lookup = values.NO_OBJECTS,
    roles: Roles = DEFAULT_ROLES,
    believes_owner: bool = True,
    mapped: Kind | None = None,
    small: bool = False,
) -> model.Workload | None:
    """The workload of an object, or an object without pods that rules read; None for any other object.

    Args:
        value: the object as JSON, with `apiVersion` and `kind`.
        namespace: the namespace of an object without one (admission knows it, a file may not).
        objects: looks up objects that the object refers to by name.
        roles: gives the workload its role.
        believes_owner: whether the owner that the object names counts.
        mapped: how a Workload-Map document describes the kind of the object, if usher does not know it.
        small: whether it is known to be within all limits.
    """
    group, version, kind = identity.group_version_kind(value)
    if not small and (group, kind) in registry.BY_KEY and (found := identity.excess(value)) is not None:
        return identity.too_large_to_judge(value, found, namespace=namespace)
    if (group, kind) in registry.OBJECTS:
        return read_object(value, vocabulary=vocabulary, namespace=namespace, objects=objects)
    if (group, kind) in registry.BOUNDS_OF_NODES:
        return None
    known = registry.WORKLOADS.get((group, kind)) or mapped
    described = known is not None and version in known.versions
    judged = known if described else None if known is not None else unrecognised.kind_by_shape(value)
    if judged is None or judged.pods is None:
        return unrecognised.read_unrecognised(value, known=known, namespace=namespace, vocabulary=vocabulary)
    workload = _recognised(
        value,
        judged,
        judged.pods,
        version=version,
        vocabulary=vocabulary,
        namespace=namespace,
        objects=objects,
        roles=roles,
        believes_owner=believes_owner,
    )
    # Whether the pods of an unknown kind wait for each other is unknown too.
    return workload if described or workload.gang.formed_by else replace(workload, gang=model.Gang(wanted=False))


def _recognised(  # noqa: PLR0913 - the kind, and all arguments of `normalise`
    value: paths.Object,
    known: Kind,
    pods: Pods,
    *,
    version: str,
    vocabulary: Vocabulary,
    namespace: str,
    objects: values.Lookup,
    roles: Roles,
    believes_owner: bool,
) -> model.Workload:
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    namespace = "" if known.cluster_scoped else within
    reading.context = Context(namespace, objects, _FIND_INNER)
    claims: Claims = {}
    templates = tuple(_placed(value, each, reading) for each in pods.templates(value, reading))
    if pods.serves_in_parts:
        templates = tuple(replace(each, serves_as=serving_part(each)) for each in templates)
    pod_sets = tuple(
        read_pod_set(template, reading=reading, vocabulary=vocabulary, known_claims=claims) for template in templates
    )
    _find_misplaced(value, pod_sets, known, reading)
    labels, annotations = _labels_and_annotations(metadata, pod_sets, reading)
    named_owner = identity.controlling_owner(metadata, reading)
    owner = named_owner if believes_owner else None
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
        name=identity.object_name(metadata, reading, value),
        labels=labels,
        annotations=annotations,
        role=purpose.role,
        role_reason=purpose.reason,
        role_refusal=purpose.refusal,
        owner=owner,
        claimed_owner=None if believes_owner else named_owner,
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=_suspended(value, pods, reading),
        pod_sets=pod_sets,
        gang=gang_of_object(
            deciding_object(value, deciding[0], templates, pod_sets) if deciding is not None else None,
            InnerObject(value, paths.ROOT, known.kind, pod_sets),
            own=making,
            waits=any(each.waits for each in templates) or (purpose.role is model.Role.TRAINING and purpose.spans_pods),
            metadata=(labels, annotations),
            reading=reading,
        ),
        totals=workloads_pod_sets.totals_of_pod_sets(pod_sets),
        is_template=pods.is_template,
        queue_label_path=_queue_label_path(value, pods, reading),
        queue_labels=_queue_labels(value, labels, pods, pod_sets, reading),
        view=shape_of_object(value, known.group, known.kind, reading),
        gang_places=pods.gang_places,
        lifecycle_places=lifecycle,
        managed_by=_managed_by(value, lifecycle, reading),
        exists=bool(metadata.get("uid")),
        gang_native=pods.gang_native,
        unknowns=_at_existing_places(value, reading),
    )


_LISTED: Final = memo.pattern(r"/(c|initC|ephemeralC)ontainers/\d+$")


def _placed(value: paths.Object, template: Template, reading: Reading) -> Template:
    """The template; containers that only its kind's controller adds stand at the innermost object that exists."""
    # Those of a list were read from it.
    if not template.containers or all(_LISTED.search(each.path) for each in template.containers):
        return template
    places = [
        each.path if _is_elsewhere(each.path, reading) else nearest_object(value, each.path)
        for each in template.containers
    ]
    if all(place == each.path for place, each in zip(places, template.containers, strict=True)):
        return template
    moved = (each._replace(path=place) for place, each in zip(places, template.containers, strict=True))
    return replace(template, containers=tuple(moved))


def _is_elsewhere(path: str, reading: Reading) -> bool:
    """Whether a path leads into another object, below the name that refers to it."""
    return any(path == each or path.startswith(f"{each}/") for each in reading.references)


def _at_existing_places(value: paths.Object, reading: Reading) -> tuple[model.Unknown, ...]:
    placed = (
        each if _is_elsewhere(each.path, reading) else replace(each, path=nearest_pointer(value, each.path))
        for each in reading.found()
    )
    return tuple(dict.fromkeys(placed))


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
    reported = {unknown.path for unknown in reading.unknowns}
    reported.update(each.spec_path for each in pod_sets)
    templates = {each.path for each in pod_sets}
    for found in pod_templates.find_pod_specs(value) or ():
        holders = list(_holders(found))
        if reported.isdisjoint((found, *holders)) and templates.isdisjoint(holders):
            reading.unknown(found, _misplaced(known))


def _misplaced(known: Kind) -> str:
    if known.pods is None or known.group_and_kind in registry.SHIPPED:
        return f"{known.kind} has no pod spec here, so it is not judged"
    places = " and ".join(known.pods.template_paths[:2])
    return f"the description of {known.kind} has pods at {places} and not here, so this pod spec is not judged"


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
