"""Plans the actions that make a ledger agree with the cluster: used = existing objects + open reservations.

This module reads nothing. An action that lowers a charge relies on watches, and watches can lag behind. So a live read
of the object must confirm the action before it is applied.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from usher.authorities.gpu_quota import amounts as gpu_quota_amounts
from usher.authorities.gpu_quota import entries, ledger
from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.limits import Limits
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """An existing workload that no owner covers, or a pod that has its own charge."""

    uid: str
    group: str
    kind: str
    namespace: str
    name: str
    charge: ByClasses
    """Its current amounts; empty for a suspended workload if the quota does not charge suspended workloads."""
    finished: bool = False
    """Whether it makes no more pods and all of its pods have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """The object of an entry exists and takes `amounts`."""

    entry: Entry
    """The entry at the time of planning."""
    amounts: ByClasses
    lowers: bool
    """Whether the action lowers the charge; then a live read must confirm it, like a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """No object seems to hold the charge any more. A live read must confirm it."""

    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopt:
    """An object exists without a charge: it is older than the quota, or was created while no webhook answered. It is
    charged by force.
    """

    entry: Entry


Action = Settle | Release | Adopt


def actions(found: Ledger, holdings: Iterable[Holding], limits: Limits, now: int) -> list[Action]:
    """The actions, in any order.

    An open reservation is never lowered, because the object may not be stored yet. It is settled as soon as the
    existing object takes everything that was reserved, and otherwise when it ends.

    Args:
        found: the ledger.
        holdings: all holdings in the namespaces of the quota. Several may share a name: an existing workload, and
              deleted workloads whose pods have not ended.
            limits: the limits of the quota.
        now: seconds since the epoch.
    """
    result: list[Action] = []
    held: set[str] = set()
    for holding in _by_name(holdings):
        amounts_now = ledger.relevant(holding.charge, limits)
        for entry in entries_of(holding, found):
            held.add(entry.key)
            result += _of_entry(entry, holding, amounts_now, now)
        if amounts_now and not holding.finished and not any(entries_of(holding, found)):
            result.append(Adopt(entry=_entry(holding, amounts_now)))
    result += [
        Release(entry=entry, reason="does not exist")
        for entry in found.entries.values()
        if entry.key not in held and not _is_live(entry, now)
    ]
    return result


def apply(found: Ledger, action: Action, limits: Limits) -> Ledger:
    """The ledger after a confirmed action.

    If the entry has changed since planning, or the ledger has no room, the ledger stays unchanged.
    """
    match action:
        case Settle(entry=entry, amounts=actual):
            return ledger.settle(found, entry.key, actual) if found.entries.get(entry.key) == entry else found
        case Release(entry=entry):
            return ledger.release(found, entry.key) if found.entries.get(entry.key) == entry else found
        case Adopt(entry=entry):
            forced = ledger.force(found, entry, limits)
            if isinstance(forced, ledger.Full):
                return found
            return forced.ledger


def _by_name(holdings: Iterable[Holding]) -> Iterator[Holding]:
    """One holding for each name, with the sum of all holdings of that name."""
    found: defaultdict[str, list[Holding]] = defaultdict(list)
    for holding in holdings:
        found[_name_key(holding)].append(holding)
    for several in found.values():
        left = [each for each in several if not each.finished] or several
        yield left[0] if len(left) == 1 else replace(left[0], charge=together(each.charge for each in left))


def _of_entry(entry: Entry, holding: Holding, amounts_now: ByClasses, now: int) -> Iterator[Action]:
    if holding.finished:
        if not _is_live(entry, now):
            yield Release(entry=entry, reason="has finished")
    elif not _is_live(entry, now):
        if entry.reserved_until is not None or entry.amounts != amounts_now:
            yield Settle(entry=entry, amounts=amounts_now, lowers=not _covers(amounts_now, entry.amounts))
    elif _covers(amounts_now, entry.amounts):
        yield Settle(entry=entry, amounts=amounts_now, lowers=False)


def entries_of(holding: Holding, found: Ledger) -> list[Entry]:
    """The entries of a holding: by its name, and by its uid if it was charged before it had a name."""
    return [entry for key in (_name_key(holding), holding.uid) if (entry := found.entries.get(key)) is not None]


def _name_key(holding: Holding) -> str:
    return entries.name_key(holding.group, holding.kind, holding.namespace, holding.name)


def _entry(holding: Holding, of_holding: ByClasses) -> Entry:
    return Entry(
        group=holding.group,
        kind=holding.kind,
        namespace=holding.namespace,
        name=holding.name,
        amounts=entries.tidy(of_holding),
        reserved_until=None,
    )


def _is_live(entry: Entry, now: int) -> bool:
    return entry.reserved_until is not None and entry.reserved_until > now


def _covers(present: ByClasses, reserved: Mapping[tuple[str, ...], gpu_quota_amounts.Amounts]) -> bool:
    return all(
        present.get(classes, {}).get(unit, 0) >= nanos
        for classes, of_units in reserved.items()
        for unit, nanos in of_units.items()
    )
