"""The findings of the policies in an object, before usher.yaml and the age of the facts are applied."""

from usher import model
from usher.authorities.authority import Ground
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The results of the checks, and the facts that they rest on."""

    findings: tuple[model.Finding, ...] = ()
    unknowns: tuple[model.Unknown, ...] = ()
    grounds: tuple[Ground, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An object and the findings of the policies; `old` is the object before an UPDATE."""

    workload: model.Workload | None
    exemption: str = ""
    old: model.Workload | None = None
    found: Found = Found()
