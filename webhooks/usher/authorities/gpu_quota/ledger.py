"""The ledger of a quota (the charge of each workload), and the actions that make it agree with the cluster.

An entry begins as a reservation when usher allows a workload. It becomes a settled charge when a replica sees that the
workload exists (`settle`). A charge never lowers an entry: an UPDATE that asks for less may still fail after usher
allows it. So an entry holds the largest demand until it is settled.

A ledger is written by compare-and-swap: read with its version, changed here, written against that version, and changed
again after a conflict. So each function is one atomic step. Its ledger stays within its limits for any number of
replicas that charge at the same time.

This module reads nothing. An action that lowers a charge relies on watches, and watches can lag behind. So a live read
of the object must confirm the action before it is applied.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from usher.authorities.gpu_quota import definitions, entries
from usher.authorities.gpu_quota.charge import ByClasses, amounts_of_classes, sum_of_charges
from usher.authorities.gpu_quota.definitions import Amounts, Limit, Limits
from usher.authorities.gpu_quota.entries import Entry, EntryChanges, EntryLayers, encode_entry, tidy

NO_AMOUNTS: Final[ByClasses] = {}

MOST_BYTES: Final = 1_000_000
"""The most bytes of all entries in the object. By default etcd accepts 1.5 MiB in one request; names, other fields
and the protocol need a part of it."""

MOST_ENTRIES: Final = 10_000
"""The bound in the definition of GPUQuota. With names of usual length, `MOST_BYTES` is reached first."""

MOST_IN_PARTS: Final = 50_000
"""The most entries of an account in several objects."""


class Ledger(Struct, frozen=True):
    """The charges of a quota. Make it by `of_entries`, by `status.decode` or from EMPTY, so that the sums are right."""

    entries: EntryLayers = field(default_factory=lambda: EntryLayers({}))
    size: int = 0
    """The bytes of the entries; not counted where several objects hold them."""
    sums: ByClasses = field(default_factory=dict)
    """The amounts of all entries, without zeros."""
    in_parts: bool = False
    """Whether several objects can hold the entries; otherwise the size is limited to one object."""


EMPTY: Final = Ledger()


def of_entries(entries: Mapping[str, Entry]) -> Ledger:
    """A ledger of these entries, which must not change any more."""
    return Ledger(
        entries=EntryLayers(entries),
        size=sum(map(entry_bytes, entries.values())),
        sums=tidy(sum_of_charges(entry.amounts for entry in entries.values())),
    )


class Granted(Struct, frozen=True, kw_only=True):
    ledger: Ledger


class Excess(Struct, frozen=True, kw_only=True):
    """A unit of a limit with too high a demand; in nanos."""

    limit: Limit
    unit: str
    asks: int
    """The whole demand of the workload."""
    held: int
    """The earlier charge of the workload; part of `used`."""
    added: int
    """The additional charge beyond `held`. Pods that change their priority class count in both until settled."""
    used: int
    hard: int
    ending: int = 0
    """The amount that pods of a deleted object of the same name still hold; part of `added` or of `held`."""

    @property
    def free(self) -> int:
        return max(self.hard - self.used, 0)

    @property
    def never(self) -> bool:
        """Whether the demand exceeds the limit even if nothing else is charged."""
        return self.asks > self.hard


class Refused(Struct, frozen=True, kw_only=True):
    excesses: tuple[Excess, ...]


class Full(Struct, frozen=True, kw_only=True):
    """The object has no room for another entry. The workload is not the cause."""

    entries: int


def in_parts(entries: Mapping[str, Entry]) -> Ledger:
    """A ledger of the entries of several objects, which must not change any more."""
    sums = tidy(sum_of_charges(entry.amounts for entry in entries.values()))
    return Ledger(entries=EntryLayers(entries), sums=sums, in_parts=True)


def changed(base: Ledger, changes: EntryChanges) -> Ledger:
    """A ledger of the entries of `in_parts`, with changes."""
    new = [entry.amounts for entry in changes.values() if entry is not None]
    former = [entry.amounts for key in changes if (entry := base.entries.get(key)) is not None]
    taken = sum_of_charges(former)
    less = {classes: {unit: -nanos for unit, nanos in of_units.items()} for classes, of_units in taken.items()}
    sums = tidy(sum_of_charges([base.sums, *new, less]))
    return replace(base, entries=EntryLayers(base.entries.base, changes), sums=sums)


def used(ledger: Ledger) -> ByClasses:
    """The sum of all entries, by priority classes; empty without entries."""
    return ledger.sums


def used_of(ledger: Ledger, limits: Limits) -> list[Amounts]:
    """The usage of each limit, in all of its units."""
    everything = used(ledger)
    return [
        {unit: amounts_of_classes(everything, limit.classes).get(unit, 0) for unit in sorted(limit.hard)}
        for limit in limits
    ]


def charge(
    ledger: Ledger, entry: Entry, limits: Limits, ending: ByClasses = NO_AMOUNTS, *, creates: bool = True
) -> Granted | Refused | Full:
    """Reserves the demand of a workload until `entry.reserved_until`.

    A second charge of a workload charges only the demand beyond its entry. A workload whose demand does not exceed its
    entry is never refused, even if the quota is over-committed.

    Args:
        ending: the amounts of pods of deleted objects of the same name, until they end; charged in the same entry.
        creates: whether the request creates the object.
    """
    former, entry = find_entry(ledger, entry), _relevant_entry(entry, limits)
    after = _merge_entries(former, _with_ending(entry, relevant_amounts(ending, limits)), creates=creates)
    excesses = tuple(_excesses(ledger, former, after, entry, limits, ending))
    if excesses:
        return Refused(excesses=excesses)
    return _granted(ledger, former, after)


def force(
    ledger: Ledger, entry: Entry, limits: Limits, ending: ByClasses = NO_AMOUNTS, *, creates: bool = True
) -> Granted | Full:
    """Charges without regard to limits, for sites that only warn and for workloads that exist already."""
    former, entry = find_entry(ledger, entry), _relevant_entry(_with_ending(entry, ending), limits)
    return _granted(ledger, former, replace(_merge_entries(former, entry, creates=creates), forced=True))


def settle(ledger: Ledger, key: str, actual: ByClasses) -> Ledger:
    """Replaces a reservation by the amounts of the existing object. An unknown key changes nothing."""
    former = ledger.entries.get(key)
    if former is None:
        return ledger
    return _with_entry(ledger, replace(former, amounts=tidy(actual), reserved_until=None, created_again=False))


def release(ledger: Ledger, key: str) -> Ledger:
    former = ledger.entries.get(key)
    return ledger if former is None else _replace_entry(ledger, key, former, None)


def restore(ledger: Ledger, after: Entry, before: Entry | None) -> Ledger:
    """The ledger with the entry that a charge replaced; unchanged if the entry has changed since."""
    if ledger.entries.get(after.key) != after:
        return ledger
    without = release(ledger, after.key)
    return without if before is None else _with_entry(without, before)


def find_entry(ledger: Ledger, entry: Entry) -> Entry | None:
    """The entry of the same object, by its name, or by its uid if it was charged before it had a name."""
    return ledger.entries.get(entry.key) or ledger.entries.get(entry.uid)


def entry_bytes(entry: Entry) -> int:
    """The bytes of an entry in the object, with its separator."""
    return len(orjson.dumps(encode_entry(entry))) + 1


def relevant_amounts(by_classes: ByClasses, limits: Limits) -> ByClasses:
    """The amounts that limits count: units of a limit, and classes that a limit names. All other classes are merged.

    So the quota bounds the size of an entry for any workload.
    """
    units = {unit for limit in limits for unit in limit.hard}
    named: Collection[str] = {name for limit in limits for name in limit.classes}
    result: dict[tuple[str, ...], Amounts] = {}
    for classes, of_units in by_classes.items():
        key = tuple(sorted({name if name in named else "" for name in classes}))
        kept = {unit: nanos for unit, nanos in of_units.items() if unit in units}
        result[key] = definitions.plus(result.get(key, {}), kept)
    return tidy(result)


def _relevant_entry(entry: Entry, limits: Limits) -> Entry:
    """The entry with the amounts that limits count, and without a uid where the name is the key."""
    return replace(entry, uid="" if entry.name else entry.uid, amounts=relevant_amounts(entry.amounts, limits))


def _with_ending(entry: Entry, ending: ByClasses) -> Entry:
    return replace(entry, amounts=sum_of_charges([entry.amounts, ending])) if ending else entry


def _merge_entries(former: Entry | None, entry: Entry, *, creates: bool) -> Entry:
    if former is None:
        return entry
    until = [each for each in (former.reserved_until, entry.reserved_until) if each is not None]
    return replace(
        entry,
        amounts={
            classes: definitions.highest([former.amounts.get(classes, {}), entry.amounts.get(classes, {})])
            for classes in sorted({*former.amounts, *entry.amounts})
        },
        reserved_until=max(until, default=None),
        forced=former.forced,
        created_again=former.created_again or creates,
    )


def _excesses(  # noqa: PLR0913, PLR0917 - before, after, demand, limits
    ledger: Ledger, former: Entry | None, after: Entry, entry: Entry, limits: Limits, ending: ByClasses
) -> Iterator[Excess]:
    everything = used(ledger)
    for limit in limits:
        before = amounts_of_classes(everything, limit.classes)
        held = amounts_of_classes(former.amounts, limit.classes) if former is not None else {}
        holds = amounts_of_classes(after.amounts, limit.classes)
        asks = amounts_of_classes(entry.amounts, limit.classes)
        for unit in sorted(limit.hard):
            added = holds.get(unit, 0) - held.get(unit, 0)
            if added > 0 and before.get(unit, 0) + added > limit.hard[unit]:
                yield Excess(
                    limit=limit,
                    unit=unit,
                    asks=asks.get(unit, 0),
                    held=held.get(unit, 0),
                    added=added,
                    used=before.get(unit, 0),
                    hard=limit.hard[unit],
                    ending=amounts_of_classes(ending, limit.classes).get(unit, 0),
                )


def _granted(ledger: Ledger, former: Entry | None, after: Entry) -> Granted | Full:
    if former is None and not after.amounts:
        return Granted(ledger=ledger)
    without = ledger if former is None or former.key == after.key else release(ledger, former.key)
    made = _with_entry(without, after)
    most = MOST_IN_PARTS if made.in_parts else MOST_ENTRIES
    too_large = made.size > MOST_BYTES and made.size > ledger.size and not made.in_parts
    if too_large or len(made.entries) > max(most, len(ledger.entries)):
        return Full(entries=len(ledger.entries))
    return Granted(ledger=made)


def _with_entry(ledger: Ledger, entry: Entry) -> Ledger:
    """The ledger with an entry added; an empty entry is removed."""
    if not entry.amounts:
        return release(ledger, entry.key)
    former = ledger.entries.get(entry.key)
    return ledger if former == entry else _replace_entry(ledger, entry.key, former, entry)


def _replace_entry(ledger: Ledger, key: str, former: Entry | None, entry: Entry | None) -> Ledger:
    """The ledger with another entry of a key; its sums follow from the difference, which is exact."""
    size, sums = ledger.size, dict(ledger.sums)
    for sign, each in ((-1, former), (1, entry)):
        if each is not None:
            size += 0 if ledger.in_parts else sign * entry_bytes(each)
            for classes, of_units in each.amounts.items():
                signed = {unit: sign * nanos for unit, nanos in of_units.items()}
                sums[classes] = definitions.plus(sums.get(classes, {}), signed)
    return replace(ledger, entries=ledger.entries.changed(key, entry), size=size, sums=tidy(sums))


class Holding(Struct, frozen=True, kw_only=True):
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


class Settle(Struct, frozen=True, kw_only=True):
    """The object of an entry exists and takes `amounts`."""

    entry: Entry
    """The entry at the time of planning."""
    amounts: ByClasses
    lowers: bool
    """Whether the action lowers the charge; then a live read must confirm it, like a release."""


class Release(Struct, frozen=True, kw_only=True):
    """No object seems to hold the charge any more. A live read must confirm it."""

    entry: Entry
    reason: str


class Adopt(Struct, frozen=True, kw_only=True):
    """An object exists without a charge: it is older than the quota, or was created while no webhook answered. It is
    charged by force.
    """

    entry: Entry


Action = Settle | Release | Adopt


def plan_actions(found: Ledger, holdings: Iterable[Holding], limits: Limits, now: int) -> list[Action]:
    """The actions, in any order.

    An open reservation is never lowered, because the object may not be stored yet. It is settled as soon as the
    existing object takes everything that was reserved, and otherwise when it ends.

    Args:
        holdings: all holdings in the namespaces of the quota. Several may share a name: an existing workload, and
            deleted workloads whose pods have not ended.
        limits: the limits of the quota.
        now: seconds since the epoch.
    """
    result: list[Action] = []
    held: set[str] = set()
    charge: ByClasses | None = None
    amounts_now: ByClasses = NO_AMOUNTS
    for holding in _by_name(holdings):
        # Most workloads ask for the same as the one before them.
        if charge != holding.charge:
            charge, amounts_now = holding.charge, relevant_amounts(holding.charge, limits)
        known = entries_of_holding(holding, found)
        for entry in known:
            held.add(entry.key)
            result += _actions_for_entry(entry, holding, amounts_now, now)
        if amounts_now and not holding.finished and not known:
            result.append(Adopt(entry=_adopted_entry(holding, amounts_now)))
    others = [found.entries[key] for key in found.entries if key not in held]
    result += [Release(entry=entry, reason="does not exist") for entry in others if not _is_live(entry, now)]
    return result


def apply_action(found: Ledger, action: Action, limits: Limits) -> Ledger:
    """The ledger after a confirmed action.

    If the entry has changed since planning, or the ledger has no room, the ledger stays unchanged.
    """
    match action:
        case Settle(entry=entry, amounts=actual):
            return settle(found, entry.key, actual) if found.entries.get(entry.key) == entry else found
        case Release(entry=entry):
            return release(found, entry.key) if found.entries.get(entry.key) == entry else found
        case Adopt(entry=entry):
            forced = force(found, entry, limits, creates=False)
            if isinstance(forced, Full):
                return found
            return forced.ledger


def _by_name(holdings: Iterable[Holding]) -> Iterator[Holding]:
    """One holding for each name, with the sum of all holdings of that name."""
    found: defaultdict[str, list[Holding]] = defaultdict(list)
    for holding in holdings:
        found[_name_key(holding)].append(holding)
    for several in found.values():
        left = [each for each in several if not each.finished] or several
        yield left[0] if len(left) == 1 else replace(left[0], charge=sum_of_charges(each.charge for each in left))


def _actions_for_entry(entry: Entry, holding: Holding, amounts_now: ByClasses, now: int) -> Iterator[Action]:
    if holding.finished:
        if not _is_live(entry, now):
            yield Release(entry=entry, reason="has finished")
    elif not _is_live(entry, now):
        if entry.reserved_until is not None or entry.amounts != amounts_now:
            yield Settle(entry=entry, amounts=amounts_now, lowers=not _covers(amounts_now, entry.amounts))
    elif _covers(amounts_now, entry.amounts) and not entry.created_again:
        yield Settle(entry=entry, amounts=amounts_now, lowers=False)


def entries_of_holding(holding: Holding, found: Ledger) -> list[Entry]:
    """The entries of a holding: by its name, and by its uid if it was charged before it had a name."""
    return [entry for key in (_name_key(holding), holding.uid) if (entry := found.entries.get(key)) is not None]


def _name_key(holding: Holding) -> str:
    return entries.name_key(holding.group, holding.kind, holding.namespace, holding.name)


def _adopted_entry(holding: Holding, of_holding: ByClasses) -> Entry:
    return Entry(
        group=holding.group,
        kind=holding.kind,
        namespace=holding.namespace,
        name=holding.name,
        amounts=tidy(of_holding),
        reserved_until=None,
    )


def _is_live(entry: Entry, now: int) -> bool:
    return entry.reserved_until is not None and entry.reserved_until > now


def _covers(present: ByClasses, reserved: Mapping[tuple[str, ...], definitions.Amounts]) -> bool:
    return all(
        present.get(classes, {}).get(unit, 0) >= nanos
        for classes, of_units in reserved.items()
        for unit, nanos in of_units.items()
    )
