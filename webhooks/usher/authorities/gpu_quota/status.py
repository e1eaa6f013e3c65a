"""Reads and writes the head of an account: the status of a GPUQuota with its condition, or a ConfigMap.

A small account is all in its head (version 1). A large one keeps most entries in parts, which are objects of their own
and never change; its head has the list of the parts, and the changes since the last of them (version 2).

Every replica computes the same condition for the same quota, so replicas do not overwrite each other's conditions.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher import model, paths
from usher.authorities.gpu_quota import assignment, definitions, entries, ledger
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.definitions import Limits, Malformed, Quota
from usher.authorities.gpu_quota.entries import Entry, PartReference
from usher.authorities.gpu_quota.ledger import Ledger

VERSION: Final = 1
"""The version of the format of an account in one object."""

VERSION_WITH_PARTS: Final = 2
"""The version with parts. An earlier gpu-usher refuses to read or write it, so it cannot lose entries of parts."""

FIELDS: Final = ("version", "used", "charges", "removed", "parts", "partsFrom", "sums", "counting")
"""The fields of an account, beside the conditions."""

_MOST_SUM: Final = definitions.MOST_AMOUNT * ledger.MOST_IN_PARTS

MOST_TOLD: Final = 20
"""How many problems of one ledger are named."""


class Decoded(Struct, frozen=True, kw_only=True):
    """The ledger of a status, with problems: JSON Pointers into the object, and reasons."""

    ledger: Ledger
    problems: tuple[tuple[str, str], ...] = ()
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries, unchanged."""
    writable: bool = True
    """False where a later gpu-usher wrote the status. Its usage is unknown, and this version must not overwrite it."""
    parts: tuple[PartReference, ...] = ()
    """The parts of the account. With parts, `ledger` has the sums of all entries, but only those of the head."""
    removed: tuple[str, ...] = ()
    """The keys of entries in parts that do not count any more."""
    parts_from: int | None = None
    """From when on the account may have parts, in seconds since 1970; None where no replica has said so yet."""
    counting: bool = False
    """Whether usher has not charged everything yet that existed before the account."""


def encode(  # noqa: PLR0913 - the fields of an account
    found: Ledger,
    limits: Limits,
    *,
    unread: Sequence[paths.Json] = (),
    parts: Sequence[PartReference] = (),
    parts_from: int | None = None,
    counting: bool = False,
) -> paths.Object:
    """The fields of an account, without conditions. With parts, it has only the entries that changed since.

    Unreadable entries stay, after all others: another version may be able to read them.
    """
    used: list[paths.Json] = [entries.encode_amounts(of_units) for of_units in ledger.used_of(found, limits)]
    changes = found.entries.changes if parts else found.entries
    charges: list[paths.Json] = [
        entries.encode_entry(entry) for _, entry in sorted(changes.items()) if entry is not None
    ]
    charges += unread
    result: paths.Object = {"version": VERSION, "used": used, "charges": charges}
    if parts_from is not None:
        result["partsFrom"] = parts_from
    if counting:
        result["counting"] = True
    if parts:
        removed: list[paths.Json] = [key for key, entry in sorted(changes.items()) if entry is None]
        result |= {
            "version": VERSION_WITH_PARTS,
            "removed": removed,
            "parts": [entries.encode_reference(part) for part in parts],
            "sums": entries.encode_sums(found.sums),
        }
    return result


def decode(value: paths.Json) -> Decoded:
    """The account in a head of any form. Unreadable entries become problems; the others count.

    Without parts, the sums follow from the charges.
    """
    if not isinstance(value, Mapping):
        return replace(_problem("/status", "" if value is None else "it is not an object"), counting=value is None)
    version = value.get("version", VERSION)
    if version not in (VERSION, VERSION_WITH_PARTS) or isinstance(version, bool):
        reason = f"this gpu-usher reads charges up to version {VERSION_WITH_PARTS}, not of version {version!r:.20}"
        return replace(_problem("/status/version", reason), writable=False)
    charges = value.get("charges")
    if not isinstance(charges, list):
        found = _problem("/status/charges", "" if charges is None else "it is not a list")
    else:
        found = _read_charges(charges)
    found = replace(found, parts_from=parts_from(value), counting=is_counting(value))
    return _with_parts(found, value) if version == VERSION_WITH_PARTS else found


def parts_from(value: paths.Json) -> int | None:
    """From when on the account of a head may have parts."""
    found = value.get("partsFrom") if isinstance(value, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def is_counting(value: paths.Json) -> bool:
    """Whether the account of a head is being counted: it was never written, or says so."""
    if not isinstance(value, Mapping):
        return value is None
    return value.get("counting") is True or not value.keys() & set(FIELDS)


def _problem(place: str, reason: str) -> Decoded:
    return Decoded(ledger=ledger.EMPTY, problems=((place, reason),) if reason else ())


def _with_parts(head: Decoded, value: Mapping[str, paths.Json]) -> Decoded:
    """A head with its parts. What cannot be read makes the account unwritable, because its usage is unknown."""
    try:
        parts = entries.decode_references(value.get("parts"))
        removed = entries.decode_removed(value.get("removed", []))
        sums: ByClasses = entries.decode_sums(value.get("sums"), most=_MOST_SUM)
    except entries.MalformedError as error:
        return replace(head, problems=(("/status", str(error)),), writable=False)
    ledger = replace(head.ledger, sums=sums, in_parts=True)
    return replace(head, ledger=ledger, parts=parts, removed=removed)


def _read_charges(charges: list[paths.Json]) -> Decoded:
    read: dict[str, Entry] = {}
    problems: list[tuple[str, str]] = []
    unread: list[paths.Json] = []
    for index, value in enumerate(charges):
        place = f"/status/charges/{index}"
        try:
            entry = entries.decode_entry(value)
        except entries.MalformedError as error:
            problems.append((place, str(error)))
            unread.append(value)
            continue
        if entry.key in read:
            problems.append((place, f"{entry.key:.300} is charged twice; the larger charge counts"))
            entry = _larger_entry(read[entry.key], entry)
        read[entry.key] = entry
    shown = problems[:MOST_TOLD]
    if len(problems) > MOST_TOLD:
        shown.append(("/status/charges", f"{len(problems) - MOST_TOLD} more entries cannot be read"))
    return Decoded(ledger=ledger.of_entries(read), problems=tuple(shown), unread=tuple(unread))


def _larger_entry(first: Entry, second: Entry) -> Entry:
    until = [each.reserved_until for each in (first, second) if each.reserved_until is not None]
    return Entry(
        group=first.group,
        kind=first.kind,
        namespace=first.namespace,
        name=first.name,
        uid=first.uid,
        amounts=entries.tidy(
            {
                classes: definitions.highest([first.amounts.get(classes, {}), second.amounts.get(classes, {})])
                for classes in {*first.amounts, *second.amounts}
            }
        ),
        reserved_until=max(until, default=None),
        forced=first.forced or second.forced,
        created_again=first.created_again or second.created_again,
    )


READY: Final = "Ready"

_MOST_NAMED: Final = 5
_LONGEST: Final = 4096


class Condition(Struct, frozen=True, kw_only=True):
    """A condition of type Ready."""

    ready: bool
    reason: str
    message: str


IN_FORCE: Final = Condition(ready=True, reason="InForce", message="workloads in its namespaces are charged")

COUNTING: Final = Condition(
    ready=False,
    reason="Counting",
    message="usher charges the workloads that exist already; until it has counted them, new workloads in its "
    "namespaces have to try again",
)


def condition_of_quota(quota: Quota | Malformed, found: Decoded, overlap: str) -> Condition:
    """The condition of a quota.

    Args:
        overlap: a text about other quotas for the same namespaces; empty without other quotas.
    """
    if isinstance(quota, Malformed):
        return _condition("Malformed", _problems_text(quota.problems))
    if overlap:
        return _condition("Overlapping", overlap)
    if found.problems:
        return _condition("LedgerUnreadable", _problems_text(found.problems))
    if found.counting:
        return COUNTING
    exceeded = _exceeded_text(found.ledger, quota.limits)
    # An exceeded quota is still enforced: it refuses every new charge.
    return _condition("Exceeded", exceeded, ready=True) if exceeded else IN_FORCE


def overlap_texts(quotas: Iterable[Quota | Malformed], labels: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """For each GPUQuota that overlaps another quota, by name, a text that names the others and one namespace.

    Args:
        quotas: all quotas of the cluster and of usher.yaml.
        labels: the labels of all namespaces, by name.
    """
    first: dict[str, tuple[str, list[Quota]]] = {}
    counts: dict[str, int] = {}
    usable = [quota for quota in quotas if isinstance(quota, Quota)]
    for namespace in sorted(labels):
        holding = [quota for quota in usable if assignment.holds(quota, namespace, labels[namespace])]
        for quota in holding if len(holding) > 1 else ():
            if not quota.declared:
                first.setdefault(quota.name, (namespace, holding))
                counts[quota.name] = counts.get(quota.name, 0) + 1
    return {name: _overlap_text(name, *found, further=counts[name] - 1) for name, found in first.items()}


def find_condition(value: paths.Json) -> Condition | None:
    """The condition in a status; None where it is missing or cannot be read."""
    match _ready_condition(value):
        case {"status": str(status), "reason": str(reason), "message": str(message)}:
            return Condition(ready=status == "True", reason=reason, message=message)
    return None


def put_condition(value: paths.Json, condition: Condition, *, now: str) -> paths.Object:
    """A status with a condition; everything else in it stays.

    Args:
        condition: replaces the condition of the same type.
        now: the time in Kubernetes' notation; becomes the transition time if `status` changes.
    """
    status: paths.Object = {**value} if isinstance(value, dict) else {}
    before, ready = _ready_condition(value), "True" if condition.ready else "False"
    since = before.get("lastTransitionTime") if before is not None and before.get("status") == ready else None
    made: paths.Object = {
        "type": READY,
        "status": ready,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": since if isinstance(since, str) else now,
    }
    others = [each for each in _all_conditions(value) if not (isinstance(each, dict) and each.get("type") == READY)]
    return {**status, "conditions": [*others, made]}


def _overlap_text(name: str, namespace: str, holding: Iterable[Quota], *, further: int) -> str:
    others = [str(each) for each in holding if each.declared or each.name != name]
    named = f"{', '.join(others[:_MOST_NAMED])}{' and others' if len(others) > _MOST_NAMED else ''}"
    where = f"namespace {namespace}" + (f" and {further} more" if further else "")
    return f"{named} also hold{'s' if len(others) == 1 else ''} for {where}; usher enforces no quota there"


def _exceeded_text(found: Ledger, limits: Limits) -> str:
    """A text about each exceeded limit; empty where no limit is exceeded."""
    over = []
    for limit, used in zip(limits, ledger.used_of(found, limits), strict=True):
        for unit, nanos in used.items():
            if nanos > limit.hard[unit]:
                of_classes = f" of {', '.join(limit.classes)}" if limit.classes else ""
                hard = definitions.number(limit.hard[unit])
                over.append(f"{definitions.text(unit, nanos)}{of_classes} used of {hard}")
    if not over:
        return ""
    forced = sorted(entry.name_key for entry in found.entries.values() if entry.forced)
    by_force = f"; charged by force: {_names_text(forced)}" if forced else ""
    return f"{'; '.join(over)}{by_force}"


def _names_text(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _problems_text(problems: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{pointer}: {reason}" for pointer, reason in problems)


def _condition(reason: str, message: str, *, ready: bool = False) -> Condition:
    return Condition(ready=ready, reason=reason, message=message[:_LONGEST])


def _all_conditions(value: paths.Json) -> list[paths.Json]:
    conditions = value.get("conditions") if isinstance(value, dict) else None
    return conditions if isinstance(conditions, list) else []


def _ready_condition(value: paths.Json) -> paths.Object | None:
    return next((each for each in _all_conditions(value) if isinstance(each, dict) and each.get("type") == READY), None)


class ChargeRequest(Struct, frozen=True, kw_only=True):
    """A workload that the policies allow."""

    uid: str
    """The uid of the review; the key of an object that has neither a name nor a uid yet."""
    workload: model.Workload
    value: paths.Object
    """The manifest of the workload."""
    old_value: paths.Object | None = None
    """The object before an UPDATE."""
    creates: bool = True
    dry_run: bool = False
    attempts: list[tuple[Entry | None, Entry]] = field(default_factory=list)
    """The entry before and after each attempt to charge it: of a lost answer it is unknown whether it was written."""
