"""Reads and writes the ledger in the status of a GPUQuota, with the usage of each limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from usher import paths
from usher.authorities.gpu_quota import amounts, entries
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.limits import Limits

VERSION: Final = 1
"""The version of the format."""

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


def encode(found: Ledger, limits: Limits, *, unread: Sequence[paths.Json] = ()) -> paths.Object:
    """`version`, `used` and `charges` of the status, without its conditions.

    Unreadable entries stay, after all others: another version may be able to read them.
    """
    used: list[paths.Json] = [entries.encode_amounts(of_units) for of_units in gpu_quota_ledger.used_of(found, limits)]
    charges: list[paths.Json] = [entries.encode(found.entries[key]) for key in sorted(found.entries)]
    charges += unread
    return {"version": VERSION, "used": used, "charges": charges}


def decode(value: paths.Json) -> Decoded:
    """The ledger in a status of any form. Unreadable entries become problems; the others count.

    `used` is not read, because it follows from the charges.
    """
    if not isinstance(value, Mapping):
        return Decoded(
            ledger=gpu_quota_ledger.EMPTY, problems=() if value is None else (("/status", "it is not an object"),)
        )
    version = value.get("version", VERSION)
    if version != VERSION or isinstance(version, bool):
        reason = f"this gpu-usher reads charges of version {VERSION}, not of version {version!r:.20}"
        return Decoded(ledger=gpu_quota_ledger.EMPTY, problems=(("/status/version", reason),), writable=False)
    charges = value.get("charges")
    if not isinstance(charges, list):
        problems = () if charges is None else (("/status/charges", "it is not a list"),)
        return Decoded(ledger=gpu_quota_ledger.EMPTY, problems=problems)
    return _read(charges)


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
    size = sum(map(gpu_quota_ledger.bytes_of, read.values()))
    return Decoded(ledger=Ledger(entries=read, size=size), problems=tuple(told), unread=tuple(unread))


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
