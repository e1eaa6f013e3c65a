"""Groups the objects that differ by cause, so that a report gives each reason once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from usher.dataclass import dataclass
from usher.replay.comparison import Change, CheckChange, Difference, State
from usher.replay.verdicts import Found, Outcome, Verdict
from usher.scan import devices as scan_devices

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Objects with the same reason for their difference, those with the most GPUs first."""

    message: str
    remedy: str
    changes: Sequence[Change]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
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


def of(changes: Iterable[Change], difference: Difference) -> list[Chapter]:
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
        yield _plain("seen only by the new side" if before is None else "seen only by the old side")
    elif before.failure or after.failure:
        side = "new" if after.failure else "old"
        yield _plain(f"the {side} side gives no verdict: {after.failure or before.failure}")
    elif difference is Difference.OTHER_WORDS:
        yield from _other_words(before, after)
    else:
        improved = difference in (Difference.NO_LONGER_DENIED, Difference.NO_LONGER_WARNED)
        for check in change.checks:
            if _explains(check, difference):
                yield from _of_check(check, remedies=not improved, exemption=after.exemption if improved else "")


def _plain(message: str) -> Reason:
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


def _of_check(check: CheckChange, *, remedies: bool, exemption: str) -> Iterator[Reason]:
    turn = f"before: {_SAYS[check.before]}; after: {_SAYS[check.after]}"
    name = check.name or UNREAD
    heading = Heading(code=check.code, name=name, turn=f"{turn}, because {exemption}" if exemption else turn)
    worst = next((each.outcome for each in check.said if isinstance(each, Found)), Outcome.NOTHING)
    for each in check.said:
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
        yield _plain("fewer messages of the same checks" if old > new else "other words about what was not evaluated")
