"""How much a comparison concerns, in all and by check, namespace, owner and user, and what causes it."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from usher.check import devices as scan_devices
from usher.check.devices import NOTHING, Amount, Devices
from usher.check.replay.comparison import Change, CheckChange, Comparison, Difference, Found, Outcome, State, Verdict

_Key = TypeVar("_Key", bound=Hashable)


class Affected(Struct, frozen=True, kw_only=True):
    """Objects, their pods, and the accelerators that these pods request."""

    objects: int = 0
    workloads: int = 0
    """How many of the objects make pods."""
    kinds: frozenset[str] = frozenset()
    pods: Amount = NOTHING
    devices: Devices

    @property
    def gpus(self) -> Amount:
        """Whole GPUs among the accelerators."""
        return scan_devices.gpus(self.devices)


NO_OBJECTS: Final = Affected(devices={})


class OfCheck(Struct, frozen=True, kw_only=True):
    """The changes in one check, also in objects whose verdict stays the same."""

    check: str
    code: str
    name: str
    newly_denies: Affected
    no_longer_denies: Affected
    newly_warns: Affected
    no_longer_warns: Affected
    not_evaluated: Affected


class AffectedGroup(Struct, frozen=True, kw_only=True):
    """The objects of one namespace, owner or user, by their difference."""

    name: str
    by_difference: Mapping[Difference, Affected]
    """Only differences with objects."""

    def of(self, difference: Difference) -> Affected:
        """The objects with a difference."""
        return self.by_difference.get(difference, NO_OBJECTS)


def concerned(changes: Iterable[Change]) -> Affected:
    """The sum over some changes."""
    shown = [change.shown for change in changes]
    return Affected(
        objects=len(shown),
        workloads=sum(each.workload for each in shown),
        kinds=frozenset(each.kind for each in shown),
        pods=scan_devices.total(each.pods for each in shown),
        devices=scan_devices.added(each.devices for each in shown),
    )


def affected_by_difference(changes: Iterable[Change]) -> dict[Difference, Affected]:
    """The objects of each difference, in the order of `Difference`, without differences that have no objects."""
    groups = _grouped(changes, lambda change: change.difference)
    return {difference: concerned(groups[difference]) for difference in Difference if difference in groups}


def by_check(changes: Iterable[Change]) -> list[OfCheck]:
    """The checks with another result, first those that newly deny the most GPUs."""
    pairs: dict[str, list[tuple[Change, CheckChange]]] = defaultdict(list)
    for change in changes:
        for check in change.checks:
            pairs[check.check].append((change, check))
    found = [_check_amounts(each) for each in pairs.values()]
    return sorted(
        found,
        key=lambda each: (
            *_sort_key_most_first(each.newly_denies),
            *_sort_key_most_first(each.no_longer_denies),
            each.code,
        ),
    )


def by_namespace(changes: Iterable[Change]) -> list[AffectedGroup]:
    """The objects that differ, by namespace; an empty name for objects without a namespace."""
    return _groups(changes, lambda change: change.shown.namespace)


def by_owner(changes: Iterable[Change]) -> list[AffectedGroup]:
    """The objects that differ, by their controller within a namespace; by themselves if they have no controller."""
    return _groups(changes, _owner)


def by_user(changes: Iterable[Change]) -> list[AffectedGroup]:
    """The objects of recorded reviews that differ, by user."""
    return _groups((change for change in changes if change.shown.user), lambda change: change.shown.user)


def _owner(change: Change) -> str:
    """`Job ml-research/bert`."""
    kind, _, name = change.shown.owner.partition("/")
    within = f"{change.shown.namespace}/" if change.shown.namespace else ""
    return f"{kind} {within}{name or '(unnamed)'}"


def _check_amounts(pairs: Sequence[tuple[Change, CheckChange]]) -> OfCheck:
    def those(holds: Callable[[State, State], bool]) -> Affected:
        return concerned(change for change, check in pairs if holds(check.before, check.after))

    unknown = State.NOT_EVALUATED
    milder = (State.AUDIT, State.NOTHING)
    first = pairs[0][1]
    return OfCheck(
        check=first.check,
        code=first.code,
        name=first.name,
        newly_denies=those(lambda _, after: after is State.DENY),
        no_longer_denies=those(lambda before, after: before is State.DENY and after is not unknown),
        newly_warns=those(lambda before, after: after is State.WARN and before in milder),
        no_longer_warns=those(lambda before, after: before is State.WARN and after in milder),
        not_evaluated=those(
            lambda before, after: after is unknown or (before is unknown and after is not State.DENY),
        ),
    )


def _groups(changes: Iterable[Change], name: Callable[[Change], str]) -> list[AffectedGroup]:
    differing = (change for change in changes if change.difference is not Difference.NOTHING)
    groups = [
        AffectedGroup(name=key, by_difference=affected_by_difference(found))
        for key, found in _grouped(differing, name).items()
    ]

    def weight(group: AffectedGroup) -> tuple[object, ...]:
        worst = (group.of(each) for each in Difference)
        return (*(number for each in worst for number in _sort_key_most_first(each)), group.name)

    return sorted(groups, key=weight)


def _sort_key_most_first(each: Affected) -> tuple[object, ...]:
    """A sort key, most first."""
    return -each.gpus.number, -each.objects


def _grouped(changes: Iterable[Change], key: Callable[[Change], _Key]) -> dict[_Key, list[Change]]:
    groups: dict[_Key, list[Change]] = defaultdict(list)
    for change in changes:
        groups[key(change)].append(change)
    return groups


UNREAD: Final = "parts that could not be read"
"""Stands for the name of a check if usher could not read a part of the object itself."""


class Heading(NamedTuple):
    """The check that causes a difference, and the change of its outcome."""

    code: str
    name: str
    """Empty, like the code, if the cause is not a check."""
    turn: str
    """`before: a warning; after: denied`; empty if the message has it."""


class Reason(NamedTuple):
    """The message about the objects of a cause."""

    heading: Heading
    message: str
    remedy: str
    """The remedy for the objects; empty if they improved."""


class Cause(Struct, frozen=True, kw_only=True):
    """Objects with the same reason for their difference, those with the most GPUs first."""

    message: str
    remedy: str
    changes: Sequence[Change]


class Chapter(Struct, frozen=True, kw_only=True):
    """Objects that differ in one check, by reason; the most GPUs first."""

    heading: Heading
    changes: Sequence[Change]
    """Each object once."""
    causes: Sequence[Cause]

    @property
    def remedy(self) -> str:
        """The remedy for all of them; empty if the remedies differ."""
        remedies = {cause.remedy for cause in self.causes}
        return remedies.pop() if len(remedies) == 1 else ""


def causes_of(changes: Iterable[Change], difference: Difference) -> list[Chapter]:
    """The chapters of one difference, the check with the most GPUs first. An object may be in several."""
    headings: dict[Heading, dict[Reason, list[Change]]] = defaultdict(lambda: defaultdict(list))
    for change in changes:
        if change.difference is difference:
            for reason in dict.fromkeys(_reasons(change)):
                headings[reason.heading][reason].append(change)
    chapters = [_chapter(heading, reasons) for heading, reasons in headings.items()]
    return sorted(chapters, key=lambda each: (*_most_first(each.changes), each.heading))


def _chapter(heading: Heading, reasons: Mapping[Reason, Sequence[Change]]) -> Chapter:
    causes = [
        Cause(
            message=reason.message,
            remedy=reason.remedy,
            changes=sorted(changes, key=lambda change: -scan_devices.gpus(change.shown.devices).number),
        )
        for reason, changes in reasons.items()
    ]
    distinct = {id(change): change for cause in causes for change in cause.changes}
    return Chapter(
        heading=heading,
        changes=list(distinct.values()),
        causes=sorted(causes, key=lambda cause: (*_most_first(cause.changes), cause.message, cause.remedy)),
    )


def _most_first(changes: Sequence[Change]) -> tuple[int | Decimal, int]:
    """A sort key: GPUs, then objects, most first."""
    return -sum(scan_devices.gpus(change.shown.devices).number for change in changes), -len(changes)


def _reasons(change: Change) -> Iterator[Reason]:
    difference, before, after = change.difference, change.before, change.after
    if before is None or after is None:
        yield _reason_without_check("seen only by the new side" if before is None else "seen only by the old side")
    elif before.failure or after.failure:
        side = "new" if after.failure else "old"
        yield _reason_without_check(f"the {side} side gives no verdict: {after.failure or before.failure}")
    elif difference is Difference.OTHER_WORDS:
        yield from _other_words(before, after)
    else:
        improved = difference in (Difference.NO_LONGER_DENIED, Difference.NO_LONGER_WARNED)
        for check in change.checks:
            if _explains(check, difference):
                yield from _check_reasons(check, remedies=not improved, exemption=after.exemption if improved else "")


def _reason_without_check(message: str) -> Reason:
    return Reason(heading=Heading(code="", name="", turn=""), message=message, remedy="")


def _explains(check: CheckChange, difference: Difference) -> bool:
    match difference:
        case Difference.NEWLY_DENIED:
            return check.after is State.DENY
        case Difference.NO_LONGER_DENIED:
            return check.before is State.DENY
        case Difference.NOT_EVALUATED:
            return State.NOT_EVALUATED in (check.before, check.after)
        case Difference.NEWLY_WARNED:
            return check.after is State.WARN
        case Difference.NO_LONGER_WARNED:
            return check.before is State.WARN
        case _:
            return True


def _check_reasons(check: CheckChange, *, remedies: bool, exemption: str) -> Iterator[Reason]:
    turn = f"before: {_SAYS[check.before]}; after: {_SAYS[check.after]}"
    name = check.name or UNREAD
    heading = Heading(code=check.code, name=name, turn=f"{turn}, because {exemption}" if exemption else turn)
    worst = next((each.outcome for each in check.results if isinstance(each, Found)), Outcome.NOTHING)
    for each in check.results:
        if not isinstance(each, Found):
            yield Reason(heading=heading, message=each.reason, remedy="")
        elif each.outcome is worst:
            yield Reason(heading=heading, message=each.message, remedy=each.remedy if remedies else "")


_SAYS: Final = {
    State.DENY: "denied",
    State.WARN: "a warning",
    State.AUDIT: "a note",
    State.NOTHING: "nothing",
    State.NOT_EVALUATED: "not evaluated",
}


def _other_words(before: Verdict, after: Verdict) -> Iterator[Reason]:
    """The messages that only the new side has, each with an old message of the same check that the new side lacks."""
    old, new = set(before.found), set(after.found)
    gone: dict[str, list[str]] = defaultdict(list)
    for each in before.found:
        if each not in new:
            gone[each.check].append(each.message)
    for each in after.found:
        if each in old:
            continue
        was = gone[each.check].pop(0) if gone[each.check] else ""
        turn = "" if not was else "the place differs" if was == each.message else f"before: {was}"
        yield Reason(heading=Heading(code=each.code, name=each.name, turn=turn), message=each.message, remedy="")
    if old >= new:
        yield _reason_without_check(
            "fewer messages of the same checks" if old > new else "other words about what was not evaluated"
        )


class Impact(Struct, frozen=True, kw_only=True):
    """The numbers of a comparison, and its objects by cause."""

    comparison: Comparison
    all_objects: Affected
    """All objects, including those without a difference."""
    by_difference: Mapping[Difference, Affected]
    """Only differences with objects; together they are `all_objects`."""
    checks: Sequence[OfCheck]
    namespaces: Sequence[AffectedGroup]
    owners: Sequence[AffectedGroup]
    users: Sequence[AffectedGroup]
    """Empty unless the objects come from recorded reviews."""
    causes: Mapping[Difference, Sequence[Chapter]]

    def of(self, difference: Difference) -> Affected:
        """The objects with a difference."""
        return self.by_difference.get(difference, NO_OBJECTS)


def measure_impact(comparison: Comparison) -> Impact:
    changes = comparison.changes
    by_difference = affected_by_difference(changes)
    return Impact(
        comparison=comparison,
        all_objects=concerned(changes),
        by_difference=by_difference,
        checks=by_check(changes),
        namespaces=by_namespace(changes),
        owners=by_owner(changes),
        users=by_user(changes),
        causes={each: causes_of(changes, each) for each in by_difference if each is not Difference.NOTHING},
    )
