"""The exceptions of usher.yaml in a report: values alone."""

from datetime import date
from enum import StrEnum

from usher.dataclass import dataclass


class ExceptionState(StrEnum):
    """The use of an exception of usher.yaml."""

    USED = "used"
    UNUSED = "unused"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionUse:
    """An exception of usher.yaml, and whether a finding still needs it."""

    checks: tuple[str, ...]
    namespaces: tuple[str, ...]
    ticket: str
    owner: str
    expires: date
    state: ExceptionState
    findings: int
    """How many findings it covers; another exception before it may cover some first."""
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    objects: int = 0
    """Objects that were judged and that it matches by namespace, kind and name."""
    objects_with_findings: int = 0
    """Those of them in which the checks that it names find something, covered or not."""
    examples: tuple[str, ...] = ()
    """Some of these objects, as `Job ml-research/train`."""
    codes: tuple[str, ...] = ()
    """The checks that find something there."""
    needed_findings: int = 0
    """Of the findings that it covers, those that would deny or warn without it."""
    covered_by: tuple[int, ...] = ()
    """The places of the exceptions that cover findings of these checks first."""
    aside: int = 0
    """Objects that it matches by kind or name and that were judged as part of others alone."""
    known: bool = True
    """Whether each check that it names was evaluated on each object that it matches."""
