"""All intents about one object -> the changed object, its patch, and an account of what was done and what was not."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import jsonpatch

from usher import errors, model, paths
from usher.mutation import containers, skip_reasons, strategies
from usher.mutation.editing import Edit, Operation, copied
from usher.reading import lookup
from usher.reading.lookup import Absence, Lookup, Reference


def unmet_need(needs: Iterable[model.Need], objects: Lookup) -> str:
    """Which of the needs is known to be unmet; empty where all are met, or nobody knows."""
    for need in needs:
        reference = Reference(group=need.group, kind=need.kind, name=need.name, namespace=need.namespace)
        found = objects.find(reference)
        if found is Absence.MISSING:
            return f"{reference} is not there"
        if isinstance(found, dict):
            for key, values in need.labels.items():
                value = _label(found, key)
                if value not in values:
                    return f"{reference} has the label {key}={value}"
    return ""


def _label(value: Mapping[str, paths.Json], key: str) -> str:
    metadata = value.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    found = labels.get(key) if isinstance(labels, dict) else None
    return found if isinstance(found, str) else ""


ANNOTATION = "gpu-usher.io/mutations"
OWNER_COMPARES = "its owner compares its pod template and would make another one for every changed one"
NO_RECORD = "the object's metadata or annotations are no such thing, so that no change can be recorded"

_TOLD = (containers.OPAQUE, NO_RECORD)
"""Reasons of which the user is told, who alone can do something about them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why nothing comes of an intent, by what usher.yaml and the object say of its mutation."""

    reason: str
    told: bool = False
    off: bool = False
    """Whether usher.yaml has switched the mutation off, or never on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An intent that changed nothing, and why."""

    intent: model.Intent
    reason: str
    told: bool = False
    """Whether the user is warned: something stands in the way that somebody should know of."""
    off: bool = False
    """Whether the mutation is switched off, which is told to those who ask for it alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What the mutations make of an object. Without `operations`, `value` equals the original."""

    value: paths.Object
    operations: tuple[Operation, ...] = ()
    applied: tuple[model.Intent, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    conflicts: tuple[tuple[model.Intent, ...], ...] = ()
    """Intents that want different values in one place: none of them is applied."""
    warnings: tuple[model.Note, ...] = ()
    """What the mutations have to say to the user."""


def _welcome(_intent: model.Intent) -> Refusal | None:
    return None


def merge(  # noqa: PLR0913 - the object, what is wanted of it, and what decides about that
    original: paths.Object,
    workload: model.Workload,
    intents: Sequence[model.Intent],
    *,
    name_of: Callable[[str], str],
    refusal: Callable[[model.Intent], Refusal | None] = _welcome,
    recording: bool = True,
    objects: lookup.Lookup = lookup.NOTHING,
) -> Merged:
    """Applies the intents to a copy of the object.

    Args:
        original: the object as it was given.
        workload: its normalised form, whose paths the intents use.
        intents: what the mutations want, in the order in which they are applied.
        name_of: the name of a mutation by its key, for the annotation that records what was applied.
        refusal: why an intent is not wanted here; None where it is.
        recording: whether the object's annotation says what was applied; a sub resource may take no such change.
        objects: what is known of the cluster, where intents need something of it.

    Raises:
        MutationError: an intent is none that we know how to apply, or our patch would not apply.
    """
    if not intents:
        return Merged(value=original)
    if owner_compares(workload):
        return Merged(
            value=original, skipped=tuple(Skipped(intent=intent, reason=OWNER_COMPARES) for intent in intents)
        )
    skipped = [
        Skipped(intent=intent, reason=refused.reason, told=refused.told, off=refused.off)
        for intent in intents
        if (refused := refusal(intent)) is not None
    ]
    unwanted = {id(each.intent) for each in skipped}
    agreeing, conflicts = _without_conflicts(intent for intent in intents if id(intent) not in unwanted)
    edit = Edit(original)
    applied = []
    for intent in agreeing:
        reason, told = _outcome(edit, intent, workload, objects)
        if reason:
            skipped.append(Skipped(intent=intent, reason=reason, told=told))
        else:
            applied.append(intent)
    if applied and recording and not _record(edit, {name_of(intent.mutation) for intent in applied}):
        skipped += [Skipped(intent=intent, reason=NO_RECORD, told=True) for intent in applied]
        applied = []
    if not applied:
        return Merged(value=original, skipped=tuple(skipped), conflicts=conflicts)
    _verify(original, edit)
    return Merged(
        value=edit.value,
        operations=tuple(edit.operations),
        applied=tuple(applied),
        skipped=tuple(skipped),
        conflicts=conflicts,
    )


def is_recorded(value: paths.Object | None) -> bool:
    """Whether an object says that mutations were applied to it."""
    metadata = (value or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and ANNOTATION in annotations


def already_there(value: paths.Object, workload: model.Workload, intents: Iterable[model.Intent]) -> list[model.Intent]:
    """Those of the intents that ask for what an object has."""
    return [intent for intent in intents if _is_there(value, intent, workload)]


def _is_there(value: paths.Object, intent: model.Intent, workload: model.Workload) -> bool:
    try:
        # On a copy of its own: what one intent puts there must not answer for another that asks for the same.
        return _apply(Edit(value), intent, workload) == skip_reasons.ALREADY_THERE
    except (LookupError, errors.MutationError):
        # The places of an intent are those of the new object; this one may have no such container.
        return False


def owner_compares(workload: model.Workload) -> bool:
    """Whether the owner would not know the object again: https://github.com/kubernetes/kubernetes/issues/57167.

    A Deployment that is older than a mutation, or was updated since, would make ReplicaSets without end. Its Pods are
    mutated all the same.
    """
    return (workload.group, workload.kind) == ("apps", "ReplicaSet") and workload.owner is not None


def _without_conflicts(
    intents: Iterable[model.Intent],
) -> tuple[list[model.Intent], tuple[tuple[model.Intent, ...], ...]]:
    by_place: dict[tuple[str, ...], list[model.Intent]] = defaultdict(list)
    for intent in intents:
        value = intent.value if isinstance(intent.value, dict) else {}
        identity = tuple(str(value.get(key)) for key in strategies.IDENTITY.get(intent.field, ()))
        by_place[intent.at, intent.field, *identity].append(intent)
    agreeing, conflicts = [], []
    for same_place in by_place.values():
        if any(intent.value != same_place[0].value for intent in same_place):
            conflicts.append(tuple(same_place))
        else:
            agreeing.append(same_place[0])
    return agreeing, tuple(conflicts)


def _outcome(edit: Edit, intent: model.Intent, workload: model.Workload, objects: lookup.Lookup) -> tuple[str, bool]:
    """Why an intent changed nothing, empty when it did, and whether the user should hear of it."""
    missing = unmet_need(intent.needs, objects)
    # Nothing is said of what is missing for something that is there, or that the user decided otherwise.
    reason = _tried(Edit(edit.value) if missing else edit, intent, workload)
    return reason or missing, reason in _TOLD or (bool(missing) and not reason)


def _tried(edit: Edit, intent: model.Intent, workload: model.Workload) -> str:
    """As `_apply`, also where something on the way is not what it should be."""
    try:
        return _apply(edit, intent, workload)
    except LookupError as error:
        return f"something else is in its place: {error}"


def _apply(edit: Edit, intent: model.Intent, workload: model.Workload) -> str:
    """Why an intent changed nothing; empty when it did."""
    value = intent.value
    if not isinstance(value, dict) or not value.keys() >= strategies.NEEDED.get(intent.field, set()):
        raise errors.MutationError(f"{intent.mutation} wants {intent.field} at {intent.at!r} without saying what")
    if intent.field in strategies.ON_OBJECT and intent.at == paths.ROOT:
        return strategies.ON_OBJECT[intent.field](edit, workload, value)
    for pod_set in workload.pod_sets:
        if intent.field in strategies.ON_POD_SET and intent.at == pod_set.path:
            if intent.field in strategies.IN_METADATA and _shares_metadata(pod_set, workload):
                return skip_reasons.SHARED_METADATA
            return strategies.ON_POD_SET[intent.field](edit, pod_set, value)
        if intent.field in strategies.ON_CONTAINER:
            for container in pod_set.containers:
                if intent.at == container.path:
                    return strategies.ON_CONTAINER[intent.field](edit, container, pod_set, value)
    raise errors.MutationError(f"{intent.mutation} wants {intent.field} at {intent.at!r}, where it cannot be set")


def _shares_metadata(pod_set: model.PodSet, workload: model.Workload) -> bool:
    """Whether what is written into the metadata of a template would be given to the pods of another one as well."""
    return any(each is not pod_set and each.metadata_path == pod_set.metadata_path for each in workload.pod_sets)


def _record(edit: Edit, names: set[str]) -> bool:
    """One annotation names the mutations; on an object that was mutated before, the names join those that are there.

    False where there is no place for it.
    """
    pointer = paths.join("/metadata/annotations", ANNOTATION)
    before = edit.get(pointer)
    if isinstance(before, str):
        names |= {name for name in before.split(",") if name}
    try:
        edit.add(pointer, ",".join(sorted(names)))
    except LookupError:
        return False
    return True


def _verify(original: paths.Object, edit: Edit) -> None:
    """A patch that does not apply rejects the request even under failurePolicy Ignore, so it is never sent."""
    try:
        result = jsonpatch.JsonPatch(edit.operations).apply(copied(original), in_place=True)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
        # Their texts quote the object, which may hold secrets, and ours are logged.
        raise errors.MutationError("the patch does not apply") from None
    if result != edit.value:
        raise errors.MutationError("the patch does not give the object that was meant")
