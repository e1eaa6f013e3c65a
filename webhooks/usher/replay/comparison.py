"""Two verdicts about one object: the class of their difference, and what changed in each check."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from usher.dataclass import dataclass
from usher.replay.verdicts import Found, Outcome, Unknown, Verdict

Said = Found | Unknown
"""What a check says."""


class Difference(StrEnum):
    """How the verdicts about an object differ, the one that matters most first."""

    NEWLY_DENIED = "newly denied"
    NOT_EVALUATED = "not evaluated on one side"
    """One side could not evaluate what the other one could. Neither a pass nor a denial."""
    NO_LONGER_DENIED = "no longer denied"
    NEWLY_WARNED = "newly warned"
    NO_LONGER_WARNED = "no longer warned"
    OTHER_FINDINGS = "other findings"
    """The worst outcome is the same, for other reasons."""
    OTHER_WORDS = "other words"
    """The same checks with the same outcomes say it differently, or in other places."""
    ONE_SIDE = "on one side only"
    """The other side has not seen the object."""
    NOTHING = "unchanged"


class State(StrEnum):
    """What a check says about an object on one side."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    NOTHING = "nothing"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange:
    """What one check says of an object before and after."""

    check: str
    """The key; empty for the parts of the object that could not be read."""
    code: str
    name: str
    before: State
    after: State
    said: tuple[Said, ...]
    """What it says on the side that matters: the one that could not evaluate it, else after, else before."""

    @property
    def messages(self) -> list[str]:
        """What it says, in words."""
        return [each.message if isinstance(each, Found) else each.reason for each in self.said]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An object and its verdicts; at least one side has one."""

    before: Verdict | None
    after: Verdict | None
    difference: Difference
    checks: tuple[CheckChange, ...]
    """The checks whose outcome differs; empty where only words do."""

    @property
    def shown(self) -> Verdict:
        """The verdict whose numbers count: the one that denies, else the new one."""
        if self.after is None or self.difference is Difference.NO_LONGER_DENIED:
            return _present(self.before)
        return self.after

    @property
    def reason(self) -> str:
        """Why a side has no verdict; empty where both have one."""
        texts = [each.failure for each in (self.after, self.before) if each is not None]
        return next(filter(None, texts), "")


def of(before: Verdict | None, after: Verdict | None) -> Change:
    """The difference of two verdicts about one object; a verdict is None where its side has not seen the object.

    Raises:
        ValueError: there is no verdict at all.
    """
    if before is None or after is None:
        _present(before or after)
        return Change(before=before, after=after, difference=Difference.ONE_SIDE, checks=())
    checks = tuple(_check_changes(before, after))
    return Change(before=before, after=after, difference=_difference(before, after, checks), checks=checks)


def _difference(before: Verdict, after: Verdict, checks: tuple[CheckChange, ...]) -> Difference:
    if before.failure or after.failure:
        # Two failures are no difference; they are counted as failures.
        return Difference.NOTHING if before.failure and after.failure else Difference.NOT_EVALUATED
    old, new = before.outcome, after.outcome
    if new is Outcome.DENY and old is not Outcome.DENY:
        # What a side could not evaluate it let in, so this is a new denial whatever else is unknown.
        return Difference.NEWLY_DENIED
    if any(State.NOT_EVALUATED in (each.before, each.after) for each in checks):
        return Difference.NOT_EVALUATED
    if old is not new and Outcome.DENY in (old, new):
        return Difference.NO_LONGER_DENIED
    if old is not new and Outcome.WARN in (old, new):
        return Difference.NEWLY_WARNED if new is Outcome.WARN else Difference.NO_LONGER_WARNED
    if checks:
        return Difference.OTHER_FINDINGS
    return Difference.NOTHING if _words(before) == _words(after) else Difference.OTHER_WORDS


def _check_changes(before: Verdict, after: Verdict) -> Iterator[CheckChange]:
    if before.failure or after.failure:
        return
    for key in sorted(_checks(before) | _checks(after)):
        was, now = _state(before, key, other=after), _state(after, key, other=before)
        if was is now:
            continue
        if State.NOT_EVALUATED in (was, now):
            said: tuple[Said, ...] = _unknown(after if now is State.NOT_EVALUATED else before, key)
        else:
            said = _found(after if now is not State.NOTHING else before, key)
        yield CheckChange(check=key, code=said[0].code, name=said[0].name, before=was, after=now, said=said)


def _checks(verdict: Verdict) -> set[str]:
    """The checks that say something."""
    return {each.check for each in verdict.found} | {each.check for each in verdict.unknown}


def _state(verdict: Verdict, check: str, *, other: Verdict) -> State:
    """What a check says: the worst of its findings.

    If it could not evaluate something that it could evaluate for the other verdict, that says more than its milder
    findings.
    """
    found = _found(verdict, check)
    state = State(found[0].outcome.value) if found else State.NOTHING
    alone = bool(_unknown(verdict, check)) and not _unknown(other, check)
    return State.NOT_EVALUATED if alone and state is not State.DENY else state


def _found(verdict: Verdict, check: str) -> tuple[Found, ...]:
    return tuple(_worst_first(each for each in verdict.found if each.check == check))


def _unknown(verdict: Verdict, check: str) -> tuple[Unknown, ...]:
    return tuple(each for each in verdict.unknown if each.check == check)


def _worst_first(found: Iterable[Found]) -> list[Found]:
    order = list(Outcome)
    return sorted(found, key=lambda each: order.index(each.outcome))


def _words(verdict: Verdict) -> object:
    found = sorted((each.check, each.outcome, each.path, each.message, each.remedy) for each in verdict.found)
    return found, sorted((each.check, each.path, each.reason) for each in verdict.unknown)


def _present(verdict: Verdict | None) -> Verdict:
    if verdict is None:
        raise ValueError("no side has seen the object")
    return verdict
