"""Applies the intents for one object: the changed object, its patch, and which intents were applied or skipped."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from usher import errors, model, paths
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.values import Absence, Lookup, Reference
from usher.policy.mutation import editing, pod_fields, strategies
from usher.policy.mutation.editing import Edit, Operation, copied

ANNOTATION = "gpu-usher.io/mutations"
OWNER_COMPARES = "its owner compares its pod template and would make another one for every changed one"
NO_RECORD = "the object's metadata or annotations are malformed, so no change can be recorded"

_WARNED_ABOUT = (pod_fields.OPAQUE, pod_fields.PARTIAL, NO_RECORD)
"""Reasons that only the user can remove, so the user is warned."""


class MutationRefusal(Struct, frozen=True, kw_only=True):
    """Why usher.yaml or an annotation of the object refuses an intent."""

    reason: str
    warned: bool = False
    """Whether the user is warned."""
    off: bool = False
    """Whether the mutation is switched off."""


class Skipped(Struct, frozen=True, kw_only=True):
    """An intent that changed nothing, and why."""

    intent: model.Intent
    reason: str
    warned: bool = False
    """Whether the user is warned."""
    off: bool = False
    """Whether the mutation is switched off; only `usher explain` shows that."""


class Merged(Struct, frozen=True, kw_only=True):
    """The object with all mutations applied. Without `operations`, `value` equals the original."""

    value: paths.Object
    operations: tuple[Operation, ...] = ()
    applied: tuple[model.Intent, ...] = ()
    ends: tuple[int, ...] = ()
    """For each applied intent, the number of operations up to its end; later operations are the record."""
    skipped: tuple[Skipped, ...] = ()
    conflicts: tuple[tuple[model.Intent, ...], ...] = ()
    """Intents that want different values in one place; usher skips all of them."""
    warnings: tuple[model.Note, ...] = ()
    """The warnings of mutations for the user."""
    excess: model.Excess | None = None
    """The part of an object that is too much to judge, which no mutation looks at."""


def _not_refused(_intent: model.Intent) -> MutationRefusal | None:
    return None


def merge(  # noqa: PLR0913 - the object, its intents, and what decides about them
    original: paths.Object,
    workload: model.Workload,
    intents: Sequence[model.Intent],
    *,
    name_of: Callable[[str], str],
    refusal: Callable[[model.Intent], MutationRefusal | None] = _not_refused,
    recording: bool = True,
    objects: reading_values.Lookup = reading_values.NO_OBJECTS,
) -> Merged:
    """Applies the intents to a copy of the object.

    Args:
        workload: the object in its normalised form, whose paths the intents use.
        intents: what the mutations want, in the order in which they are applied.
        name_of: the name of a mutation by its key, for the annotation that records what was applied.
        refusal: why an intent is refused here; None when it is wanted.
        recording: whether an annotation of the object records what was applied; subresources do not allow it.
        objects: where to look up the objects that intents need.

    Raises:
        MutationError: an intent is not supported.
    """
    if not intents:
        return Merged(value=original)
    if owner_compares(workload):
        return Merged(
            value=original, skipped=tuple(Skipped(intent=intent, reason=OWNER_COMPARES) for intent in intents)
        )
    skipped = [
        Skipped(intent=intent, reason=refused.reason, warned=refused.warned, off=refused.off)
        for intent in intents
        if (refused := refusal(intent)) is not None
    ]
    unwanted = {id(each.intent) for each in skipped}
    agreeing, conflicts = _without_conflicts(intent for intent in intents if id(intent) not in unwanted)
    edit = Edit(original)
    applied, ends = [], []
    for intent in agreeing:
        reason, warned = _outcome(edit, intent, workload, objects)
        if reason:
            skipped.append(Skipped(intent=intent, reason=reason, warned=warned))
        else:
            applied.append(intent)
            ends.append(len(edit.operations))
    if applied and recording and not _record(edit, {name_of(intent.mutation) for intent in applied}):
        skipped += [Skipped(intent=intent, reason=NO_RECORD, warned=True) for intent in applied]
        applied = []
    if not applied:
        return Merged(value=original, skipped=tuple(skipped), conflicts=conflicts)
    return Merged(
        value=edit.value,
        operations=tuple(edit.operations),
        applied=tuple(applied),
        ends=tuple(ends),
        skipped=tuple(skipped),
        conflicts=conflicts,
    )


def is_recorded(value: paths.Object | None) -> bool:
    """Whether an annotation of the object records mutations."""
    return _annotation(value) is not None


def recorded(value: paths.Object) -> frozenset[str]:
    """Names of the mutations that an annotation of the object records."""
    text = _annotation(value)
    return frozenset(filter(None, text.split(","))) if isinstance(text, str) else frozenset()


def _annotation(value: paths.Object | None) -> paths.Json:
    metadata = (value or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations.get(ANNOTATION) if isinstance(annotations, dict) else None


def already_there(value: paths.Object, workload: model.Workload, intents: Iterable[model.Intent]) -> list[model.Intent]:
    """The intents whose values an object already has."""
    return [intent for intent in intents if _is_there(value, intent, workload)]


def _is_there(value: paths.Object, intent: model.Intent, workload: model.Workload) -> bool:
    try:
        # Each on its own copy: one intent must not find what another has just added.
        return _apply(Edit(value), intent, workload) == editing.ALREADY_THERE
    except (LookupError, errors.MutationError):
        # An intent has the places of the new object; the old one may lack the container.
        return False


def owner_compares(workload: model.Workload) -> bool:
    """Whether the owner compares the object with its own template, and would replace a changed object without end.

    https://github.com/kubernetes/kubernetes/issues/57167. The webhook still mutates the Pods of this ReplicaSet. An
    owner that usher does not believe may be real, and then a change would do the same harm.
    """
    named = workload.owner or workload.claimed_owner
    return (workload.group, workload.kind) == ("apps", "ReplicaSet") and named is not None


def _without_conflicts(
    intents: Iterable[model.Intent],
) -> tuple[list[model.Intent], tuple[tuple[model.Intent, ...], ...]]:
    by_place: dict[tuple[str, ...], list[model.Intent]] = defaultdict(list)
    for intent in intents:
        value = intent.value if isinstance(intent.value, dict) else {}
        strategy = strategies.STRATEGIES.get(intent.field, strategies.UNSUPPORTED)
        identity = tuple(str(value.get(key)) for key in strategy.identity)
        by_place[intent.at, intent.field, *identity].append(intent)
    agreeing, conflicts = [], []
    for same_place in by_place.values():
        if any(intent.value != same_place[0].value for intent in same_place):
            conflicts.append(tuple(same_place))
        else:
            agreeing.append(same_place[0])
    return agreeing, tuple(conflicts)


def _outcome(
    edit: Edit, intent: model.Intent, workload: model.Workload, objects: reading_values.Lookup
) -> tuple[str, bool]:
    """Why an intent changed nothing (empty when it did), and whether the user is warned."""
    missing = unmet_need(intent.needs, objects)
    # An unmet need does not matter if the object has the value already, or the user chose another.
    reason = _tried(Edit(edit.value) if missing else edit, intent, workload)
    return reason or missing, reason in _WARNED_ABOUT or (bool(missing) and not reason)


def unmet_need(needs: Iterable[model.Need], objects: Lookup) -> str:
    """Why the first unmet need is unmet; empty if every need is met or unknown."""
    for need in needs:
        reference = Reference(group=need.group, kind=need.kind, name=need.name, namespace=need.namespace)
        found = objects.find(reference)
        if found is Absence.MISSING:
            return f"{reference} does not exist"
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


def _tried(edit: Edit, intent: model.Intent, workload: model.Workload) -> str:
    """Why an intent changed nothing, like `_apply`; also if a field on the way has a wrong type."""
    try:
        return _apply(edit, intent, workload)
    except LookupError as error:
        return f"something else is in its place: {error}"


def _apply(edit: Edit, intent: model.Intent, workload: model.Workload) -> str:
    """Why an intent changed nothing; empty when it did."""
    value, strategy = intent.value, strategies.STRATEGIES.get(intent.field, strategies.UNSUPPORTED)
    if not isinstance(value, dict) or not value.keys() >= strategy.needs:
        raise errors.MutationError(f"{intent.mutation} wants {intent.field} at {intent.at!r} without saying what")
    if strategy.on_object is not None and intent.at == paths.ROOT:
        return strategy.on_object(edit, workload, value)
    for pod_set in workload.pod_sets:
        if strategy.on_pod_set is not None and intent.at == pod_set.path:
            if strategy.in_metadata and _shares_metadata(pod_set, workload):
                return editing.SHARED_METADATA
            return strategy.on_pod_set(edit, pod_set, value)
        if strategy.on_container is not None:
            for container in pod_set.containers:
                if intent.at == container.path:
                    return strategy.on_container(edit, container, pod_set, value)
    raise errors.MutationError(f"{intent.mutation} wants {intent.field} at {intent.at!r}, where it cannot be set")


def _shares_metadata(pod_set: model.PodSet, workload: model.Workload) -> bool:
    """Whether another pod set has the same metadata, so that its pods would get a change too."""
    return any(each is not pod_set and each.metadata_path == pod_set.metadata_path for each in workload.pod_sets)


def _record(edit: Edit, names: set[str]) -> bool:
    """Adds the names of mutations to the annotation that records them; False if the object has no place for it."""
    pointer = paths.join("/metadata/annotations", ANNOTATION)
    before = edit.get(pointer)
    if isinstance(before, str):
        names |= {name for name in before.split(",") if name}
    try:
        edit.add(pointer, ",".join(sorted(names)))
    except LookupError:
        return False
    return True


def verified(original: paths.Object, merged: Merged) -> Merged:
    """The same value, after the patch was applied as a test; for callers that send the patch.

    A patch that does not apply rejects the request even under failurePolicy Ignore, so it is never sent.

    Raises:
        MutationError: the patch does not apply, or gives another object.
    """
    if merged.operations and patched(original, merged.operations) != merged.value:
        raise errors.MutationError("the patch does not give the object that was meant")
    return merged


def patched(original: paths.Object, operations: Sequence[Operation]) -> paths.Object:
    """A new object with the operations, as RFC 6902 says and not as `Edit` made them.

    Raises:
        MutationError: they do not apply. usher logs it, so it does not quote the object, which may hold secrets.
    """
    result = copied(original)
    try:
        for operation in operations:
            _patch(result, operation)
    except LookupError:
        raise errors.MutationError("the patch does not apply") from None
    return result


def _patch(value: paths.Object, operation: Operation) -> None:
    above, _, last = operation["path"].rpartition("/")
    parent, [key] = paths.resolve(value, above), paths.split(f"/{last}")
    if isinstance(parent, dict) and operation["op"] == "add":
        parent[key] = copied(operation["value"])
    elif isinstance(parent, dict) and operation["op"] == "remove":
        del parent[key]
    elif isinstance(parent, list) and (operation["op"], key) == ("add", "-"):
        parent.append(copied(operation["value"]))
    else:
        raise LookupError("no operation of ours")
