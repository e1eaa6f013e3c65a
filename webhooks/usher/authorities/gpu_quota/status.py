"""Reads and writes the head of an account: the status of a GPUQuota, or the same in a ConfigMap.

A small account is all in its head (version 1). A large one keeps most entries in parts, which are objects of their own
and never change; its head has the list of the parts, and the changes since the last of them (version 2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from usher import paths
from usher.authorities.gpu_quota import amounts, entries
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import parts as account_parts
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.limits import Limits
from usher.authorities.gpu_quota.parts import Part
from usher.dataclass import dataclass

VERSION: Final = 1
"""The version of the format of an account in one object."""

VERSION_WITH_PARTS: Final = 2
"""The version with parts. An earlier gpu-usher refuses to read or write it, so it cannot lose entries of parts."""

FIELDS: Final = ("version", "used", "charges", "removed", "parts", "partsFrom", "sums")
"""The fields of an account, beside the conditions."""

_MOST_SUM: Final = amounts.MOST * gpu_quota_ledger.MOST_IN_PARTS

MOST_TOLD: Final = 20
"""How many problems of one ledger are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The ledger of a status, with problems: JSON Pointers into the object, and reasons."""

    ledger: Ledger
    problems: tuple[tuple[str, str], ...] = ()
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries, unchanged."""
    writable: bool = True
    """False where a later gpu-usher wrote the status. Its usage is unknown, and this version must not overwrite it."""
    parts: tuple[Part, ...] = ()
    """The parts of the account. With parts, `ledger` has the sums of all entries, but only those of the head."""
    removed: tuple[str, ...] = ()
    """The keys of entries in parts that do not count any more."""
    parts_from: int | None = None
    """From when on the account may have parts, in seconds since 1970; None where no replica has said so yet."""


def encode(
    found: Ledger,
    limits: Limits,
    *,
    unread: Sequence[paths.Json] = (),
    parts: Sequence[Part] = (),
    parts_from: int | None = None,
) -> paths.Object:
    """The fields of an account, without conditions. With parts, it has only the entries that changed since.

    Unreadable entries stay, after all others: another version may be able to read them.
    """
    used: list[paths.Json] = [entries.encode_amounts(of_units) for of_units in gpu_quota_ledger.used_of(found, limits)]
    changes = found.entries.changes if parts else found.entries
    charges: list[paths.Json] = [entries.encode(entry) for _, entry in sorted(changes.items()) if entry is not None]
    charges += unread
    result: paths.Object = {"version": VERSION, "used": used, "charges": charges}
    if parts_from is not None:
        result["partsFrom"] = parts_from
    if parts:
        removed: list[paths.Json] = [key for key, entry in sorted(changes.items()) if entry is None]
        result |= {
            "version": VERSION_WITH_PARTS,
            "removed": removed,
            "parts": [account_parts.encode_reference(part) for part in parts],
            "sums": entries.encode_sums(found.sums),
        }
    return result


def decode(value: paths.Json) -> Decoded:
    """The account in a head of any form. Unreadable entries become problems; the others count.

    Without parts, the sums follow from the charges.
    """
    if not isinstance(value, Mapping):
        return _problem("/status", "" if value is None else "it is not an object")
    version = value.get("version", VERSION)
    if version not in (VERSION, VERSION_WITH_PARTS) or isinstance(version, bool):
        reason = f"this gpu-usher reads charges up to version {VERSION_WITH_PARTS}, not of version {version!r:.20}"
        return replace(_problem("/status/version", reason), writable=False)
    charges = value.get("charges")
    if not isinstance(charges, list):
        found = _problem("/status/charges", "" if charges is None else "it is not a list")
    else:
        found = _read(charges)
    found = replace(found, parts_from=parts_from(value))
    return _with_parts(found, value) if version == VERSION_WITH_PARTS else found


def parts_from(value: paths.Json) -> int | None:
    """From when on the account of a head may have parts."""
    found = value.get("partsFrom") if isinstance(value, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _problem(place: str, reason: str) -> Decoded:
    return Decoded(ledger=gpu_quota_ledger.EMPTY, problems=((place, reason),) if reason else ())


def _with_parts(head: Decoded, value: Mapping[str, paths.Json]) -> Decoded:
    """A head with its parts. What cannot be read makes the account unwritable, because its usage is unknown."""
    try:
        parts = account_parts.decode_references(value.get("parts"))
        removed = account_parts.decode_removed(value.get("removed", []))
        sums: ByClasses = entries.decode_sums(value.get("sums"), most=_MOST_SUM)
    except entries.MalformedError as error:
        return replace(head, problems=(("/status", str(error)),), writable=False)
    ledger = replace(head.ledger, sums=sums, in_parts=True)
    return replace(head, ledger=ledger, parts=parts, removed=removed)


def _read(charges: list[paths.Json]) -> Decoded:
    read: dict[str, Entry] = {}
    problems: list[tuple[str, str]] = []
    unread: list[paths.Json] = []
    for index, value in enumerate(charges):
        place = f"/status/charges/{index}"
        try:
            entry = entries.decode(value)
        except entries.MalformedError as error:
            problems.append((place, str(error)))
            unread.append(value)
            continue
        if entry.key in read:
            problems.append((place, f"{entry.key:.300} is charged twice; the larger charge counts"))
            entry = _more(read[entry.key], entry)
        read[entry.key] = entry
    told = problems[:MOST_TOLD]
    if len(problems) > MOST_TOLD:
        told.append(("/status/charges", f"{len(problems) - MOST_TOLD} more entries cannot be read"))
    return Decoded(ledger=gpu_quota_ledger.of_entries(read), problems=tuple(told), unread=tuple(unread))


def _more(first: Entry, second: Entry) -> Entry:
    until = [each.reserved_until for each in (first, second) if each.reserved_until is not None]
    return Entry(
        group=first.group,
        kind=first.kind,
        namespace=first.namespace,
        name=first.name,
        uid=first.uid,
        amounts=entries.tidy(
            {
                classes: amounts.highest([first.amounts.get(classes, {}), second.amounts.get(classes, {})])
                for classes in {*first.amounts, *second.amounts}
            }
        ),
        reserved_until=max(until, default=None),
        forced=first.forced or second.forced,
    )
