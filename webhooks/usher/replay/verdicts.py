"""The verdicts of one side of a comparison: one value for each object, without the objects themselves."""

from dataclasses import field
from enum import StrEnum

from usher.dataclass import dataclass
from usher.scan.devices import NOTHING, Amount, Devices


class Outcome(StrEnum):
    """The outcome of a check, or the worst one of an object, worst first."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    NOTHING = "nothing"
    """Nothing was found, or the object is exempt."""


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
    """Of the field in its file; 0 where unknown. A finding stays the same when lines move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """What could not be evaluated."""

    check: str
    """The check; empty for a part of the object that could not be read."""
    code: str = ""
    name: str = ""
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict about one object on one occasion."""

    key: str
    """Names the object: equal on both sides."""
    occasion: str = ""
    """The operation of a recorded review; an object may be created once and updated later."""
    uid: str = ""
    """The uid of the object, where it has one."""
    owner_uid: str = ""
    """The uid of the controller that the object names."""
    source: str
    line: int = 0
    kind: str
    namespace: str
    name: str
    owner: str
    """Kind and name of the controller that the object names; of an object without one, its own."""
    user: str = ""
    """Who asked, in a recorded review."""
    pods: Amount = NOTHING
    devices: Devices
    """Accelerators by resource name; empty for a template, whose users are counted."""
    workload: bool
    """Whether it makes pods."""
    found: tuple[Found, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    exemption: str = ""
    failure: str = ""
    """Why there is no verdict, because of an error in usher; empty where there is one."""

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
    """The configuration as people name it: `usher.yaml (preset recommended)`."""
    version: str
    """Of usher."""
    policies: str
    """The revision of the policies."""
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """Inputs that could not be used, each with its place."""
    notes: tuple[str, ...] = ()
    """What was left out on purpose, each with its place."""
    recorded: int = 0
    """Recorded reviews whose answer is known."""
    as_recorded: int = 0
    """Of these, the ones that this side answers as the server did."""
