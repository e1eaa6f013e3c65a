"""Compares the verdicts of two configurations, object by object; a file can keep the verdicts of one.

The file is JSON: `apiVersion`, `kind` and one side. It holds names of objects and messages, and no manifests.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

import orjson
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from usher import errors
from usher.check.devices import NOTHING, Amount, Devices


class Outcome(StrEnum):
    """The outcome of a check, or the worst one of an object, worst first."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    NOTHING = "nothing"
    """No finding, or the object is exempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding."""

    check: str
    """`category/name`, the key into the catalogue."""
    code: str
    name: str
    outcome: Outcome
    path: str
    message: str
    remedy: str = ""
    line: int = field(default=0, compare=False)
    """Line of the field in its file; 0 if unknown. A finding stays the same when its line moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A part that usher could not evaluate."""

    check: str
    """The check; empty if usher could not read a part of the object."""
    code: str = ""
    name: str = ""
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict about one object in one review or file."""

    key: str
    """Identifies the object: equal on both sides."""
    occasion: str = ""
    """The operation of a recorded review. An object may be created once and updated later."""
    uid: str = ""
    """The uid of the object; empty without one."""
    owner_uid: str = ""
    """The uid of the controller that the object names."""
    source: str
    line: int = 0
    kind: str
    namespace: str
    name: str
    owner: str
    """Kind and name of its controller; of the object itself if it names no controller."""
    user: str = ""
    """The user of a recorded review."""
    pods: Amount = NOTHING
    devices: Devices
    """Accelerators by resource name; empty for a template, because the workloads that use it count."""
    workload: bool
    """Whether it makes pods."""
    found: tuple[Found, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    exemption: str = ""
    failure: str = ""
    """The error in usher that prevents a verdict; empty if there is a verdict."""

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of its findings."""
        outcomes = {each.outcome for each in self.found}
        return next((each for each in Outcome if each in outcomes), Outcome.NOTHING)

    @property
    def subject(self) -> str:
        """`Job ml-research/bert`."""
        within = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind or '(no kind)'} {within}{self.name or '(unnamed)'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """All verdicts of one configuration, bundle and version."""

    label: str
    """The configuration as people call it: `usher.yaml (preset recommended)`."""
    version: str
    """The version of usher."""
    policies: str
    """The revision of the policies."""
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """Inputs that could not be used, each with its place."""
    notes: tuple[str, ...] = ()
    """Parts left out on purpose, each with its place."""
    recorded: int = 0
    """Number of recorded reviews with a known answer."""
    as_recorded: int = 0
    """How many of them this side answers as the server did."""


CheckResult = Found | Unknown
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


class CheckChange(Struct, frozen=True, kw_only=True):
    """The results of one check for an object before and after."""

    check: str
    """The key; empty for parts of the object that could not be read."""
    code: str
    name: str
    before: State
    after: State
    results: tuple[CheckResult, ...]
    """The results on the side that matters: the side that could not evaluate it, else after, else before."""

    @property
    def messages(self) -> list[str]:
        """The messages of these results."""
        return [each.message if isinstance(each, Found) else each.reason for each in self.results]


class Change(Struct, frozen=True, kw_only=True):
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


def compare_verdicts(before: Verdict | None, after: Verdict | None) -> Change:
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
    return Difference.NOTHING if _comparable_content(before) == _comparable_content(after) else Difference.OTHER_WORDS


def _check_changes(before: Verdict, after: Verdict) -> Iterator[CheckChange]:
    if before.failure or after.failure:
        return
    for key in sorted(_checks(before) | _checks(after)):
        was, now = _state(before, key, other=after), _state(after, key, other=before)
        if was is now:
            continue
        if State.NOT_EVALUATED in (was, now):
            results: tuple[CheckResult, ...] = _unknown(after if now is State.NOT_EVALUATED else before, key)
        else:
            results = _findings_of_check(after if now is not State.NOTHING else before, key)
        yield CheckChange(check=key, code=results[0].code, name=results[0].name, before=was, after=now, results=results)


def _checks(verdict: Verdict) -> set[str]:
    """The checks with a result."""
    return {each.check for each in verdict.found} | {each.check for each in verdict.unknown}


def _state(verdict: Verdict, check: str, *, other: Verdict) -> State:
    """The state of a check: the worst of its findings.

    If it could not evaluate a part that it could for the other verdict, this outweighs its milder findings.
    """
    found = _findings_of_check(verdict, check)
    state = State(found[0].outcome.value) if found else State.NOTHING
    alone = bool(_unknown(verdict, check)) and not _unknown(other, check)
    return State.NOT_EVALUATED if alone and state is not State.DENY else state


def _findings_of_check(verdict: Verdict, check: str) -> tuple[Found, ...]:
    return tuple(_worst_first(each for each in verdict.found if each.check == check))


def _unknown(verdict: Verdict, check: str) -> tuple[Unknown, ...]:
    return tuple(each for each in verdict.unknown if each.check == check)


def _worst_first(found: Iterable[Found]) -> list[Found]:
    order = list(Outcome)
    return sorted(found, key=lambda each: order.index(each.outcome))


def _comparable_content(verdict: Verdict) -> object:
    found = sorted((each.check, each.outcome, each.path, each.message, each.remedy) for each in verdict.found)
    return found, sorted((each.check, each.path, each.reason) for each in verdict.unknown)


def _present(verdict: Verdict | None) -> Verdict:
    if verdict is None:
        raise ValueError("no side has seen the object")
    return verdict


_ORDER: Final = {difference: number for number, difference in enumerate(Difference)}

_MOST_OWNERS: Final = 8
"""The most owners above each other. More of them, or a circle, must be invented."""


class Comparison(Struct, frozen=True, kw_only=True):
    """The changes of a new side."""

    before: Side
    after: Side
    changes: tuple[Change, ...]
    """One change for each object, in the order of the sources, also for objects without a difference."""
    owned: int = 0
    """Number of objects that count as part of their owner, because its verdict changes in the same way."""
    failures: tuple[Change, ...] = ()
    """Objects without a verdict on one side, because of an error in usher."""

    def of(self, difference: Difference) -> list[Change]:
        """The objects with this difference."""
        return [change for change in self.changes if change.difference is difference]

    @property
    def failed(self) -> bool:
        """Whether usher could not judge an input or an object. Then an equal verdict proves nothing."""
        return bool(self.failures or self.before.problems or self.after.problems)


def compare_sides(before: Side, after: Side) -> Comparison:
    """The differences between two sides.

    An object with several reviews counts once, with the most important difference. An object counts as part of its
    recorded owner if the owner changes in the same way: the pods of a Job are its GPUs, and not more GPUs.
    """
    found = list(_by_object(before.verdicts, after.verdicts))
    changes = [_of_object(each) for each in found]
    by_uid = {change.shown.uid: change for change in changes if change.shown.uid}
    own = [change for change in changes if not _is_covered(change, by_uid)]
    return Comparison(
        before=before,
        after=after,
        changes=tuple(own),
        owned=len(changes) - len(own),
        failures=tuple(change for each in found for change in each if change.reason),
    )


def _by_object(before: Iterable[Verdict], after: Iterable[Verdict]) -> Iterable[list[Change]]:
    """The differences of each object, one for each operation."""
    sides: dict[tuple[str, str], list[Verdict | None]] = {}
    for number, verdicts in enumerate((before, after)):
        for verdict in verdicts:
            # The last review of an object decides.
            sides.setdefault((verdict.key, verdict.occasion), [None, None])[number] = verdict
    objects: dict[str, list[Change]] = defaultdict(list)
    for (key, _), (old, new) in sides.items():
        objects[key].append(compare_verdicts(old, new))
    return objects.values()


def _of_object(changes: Sequence[Change]) -> Change:
    return min(changes, key=lambda change: _ORDER[change.difference])


def _is_covered(change: Change, by_uid: dict[str, Change]) -> bool:
    """Whether an owner above has the same difference. Owners in a circle do not count, or all of them would be left
    out.
    """
    covered, verdict = False, change.shown
    for _ in range(_MOST_OWNERS):
        owner = by_uid.get(verdict.owner_uid) if verdict.owner_uid else None
        if owner is None:
            return covered
        covered = covered or owner.difference is change.difference
        verdict = owner.shown
    return False


API_VERSION: Final = "gpu-usher.io/v1alpha1"
KIND: Final = "ReplayVerdicts"

LARGEST_SAVED: Final = 256 * 2**20
"""The most bytes of a file; ten thousand workloads with findings need a tenth of it."""

SAVED_HEAD: Final = 4096
"""The bytes at the start of a file that `is_saved_side` needs."""

_MOST: Final = 10**18
"""The most pods or accelerators. Arithmetic with larger, invented numbers would take too long."""


class _Document(BaseModel):
    model_config = ConfigDict(extra="ignore")

    api_version: Literal["gpu-usher.io/v1alpha1"] = Field(alias="apiVersion")
    kind: Literal["ReplayVerdicts"]
    side: Side


def dump_side(side: Side) -> bytes:
    """The content of a file. Equal verdicts give equal bytes."""
    document = _Document(apiVersion=API_VERSION, kind=KIND, side=side)
    return document.model_dump_json(indent=1, by_alias=True).encode() + b"\n"


def is_saved_side(head: bytes) -> bool:
    """Whether a file that begins with these bytes claims to hold verdicts."""
    return head.lstrip().startswith(b"{") and KIND.encode() in head


def load_side(data: bytes, *, source: str) -> Side:
    """The verdicts in a file.

    Raises:
        InputError: it holds no verdicts, or is damaged, too large or of another version; the message names `source`.
    """
    if len(data) > LARGEST_SAVED:
        raise errors.InputError(f"{source}: larger than {LARGEST_SAVED // 2**20} MiB, too large for verdicts")
    try:
        head = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise errors.InputError(
            f"{source}:{error.lineno}: not complete JSON; write it again with `usher replay --save`"
        ) from None
    if not isinstance(head, dict) or head.get("kind") != KIND:
        raise errors.InputError(f"{source}: holds no verdicts; `usher replay --save` writes them")
    if head.get("apiVersion") != API_VERSION:
        version = str(head.get("apiVersion"))[:64]
        raise errors.InputError(
            f"{source}: verdicts of format {version}, but this usher reads {API_VERSION}; write them again with it"
        )
    try:
        side = _Document.model_validate_json(data).side
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))[:200]
        raise errors.InputError(
            f"{source}: {field}: {first['msg']}; write it again with `usher replay --save`"
        ) from None
    if any(not 0 <= amount.number <= _MOST for each in side.verdicts for amount in (each.pods, *each.devices.values())):
        raise errors.InputError(f"{source}: a number of pods or accelerators that no cluster has; write it again")
    return side
