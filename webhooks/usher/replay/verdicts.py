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
