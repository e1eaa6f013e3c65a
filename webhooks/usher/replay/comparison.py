"""Compares two verdicts about one object: the class of their difference, and the change in each check."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from usher.dataclass import dataclass
from usher.replay.verdicts import Found, Outcome, Unknown, Verdict

Said = Found | Unknown
"""The result of a check: a finding, or a part that it could not evaluate."""


class Difference(StrEnum):
    """The class of difference between two verdicts about an object, the most important first."""

    NEWLY_DENIED = "newly denied"
    NOT_EVALUATED = "not evaluated on one side"
    """One side could not evaluate something that the other could. Neither a pass nor a denial."""
    NO_LONGER_DENIED = "no longer denied"
    NEWLY_WARNED = "newly warned"
    NO_LONGER_WARNED = "no longer warned"
    OTHER_FINDINGS = "other findings"
    """The worst outcome is the same, with other reasons."""
    OTHER_WORDS = "other words"
    """The same checks with the same outcomes give other messages or places."""
    ONE_SIDE = "on one side only"
    """The other side does not have the object."""
    NOTHING = "unchanged"


class State(StrEnum):
    """The result of a check for an object on one side."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    NOTHING = "nothing"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange:
    """The results of one check for an object before and after."""

    check: str
    """The key; empty for parts of the object that could not be read."""
    code: str
    name: str
    before: State
    after: State
    said: tuple[Said, ...]
    """The results on the side that matters: the side that could not evaluate it, else after, else before."""

    @property
    def messages(self) -> list[str]:
        """The messages of these results."""
        return [each.message if isinstance(each, Found) else each.reason for each in self.said]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An object and its verdicts; at least one side has one."""

    before: Verdict | None
    after: Verdict | None
    difference: Difference
    checks: tuple[CheckChange, ...]
    """The checks with another outcome; empty if only messages differ."""

    @property
    def shown(self) -> Verdict:
        """The verdict whose numbers count: the denying one, else the new one."""
        if self.after is None or self.difference is Difference.NO_LONGER_DENIED:
            return _present(self.before)
        return self.after

    @property
    def reason(self) -> str:
        """Why one side has no verdict; empty if both have one."""
        texts = [each.failure for each in (self.after, self.before) if each is not None]
        return next(filter(None, texts), "")


def of(before: Verdict | None, after: Verdict | None) -> Change:
    """The difference of two verdicts about one object; a verdict is None if its side does not have the object.

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
        # Two failures are not a difference; they count as failures.
        return Difference.NOTHING if before.failure and after.failure else Difference.NOT_EVALUATED
    old, new = before.outcome, after.outcome
    if new is Outcome.DENY and old is not Outcome.DENY:
        # A side admits what it could not evaluate, so this is a new denial even if other parts are unknown.
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
    """The checks with a result."""
    return {each.check for each in verdict.found} | {each.check for each in verdict.unknown}


def _state(verdict: Verdict, check: str, *, other: Verdict) -> State:
    """The state of a check: the worst of its findings.

    If it could not evaluate a part that it could for the other verdict, this outweighs its milder findings.
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
