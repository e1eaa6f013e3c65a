"""The exceptions of usher.yaml in a report, as plain values."""

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
    """The number of findings that it covers. Another exception before it may cover some first."""
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    objects: int = 0
    """The number of judged objects that it matches by namespace, kind and name."""
    objects_with_findings: int = 0
    """The number of these objects with a finding of the exception's checks, covered or not."""
    examples: tuple[str, ...] = ()
    """Some of these objects, as `Job ml-research/train`."""
    codes: tuple[str, ...] = ()
    """The codes of checks with findings in these objects."""
    needed_findings: int = 0
    """The number of covered findings that would deny or warn without the exception."""
    covered_by: tuple[int, ...] = ()
    """The indexes of the exceptions that cover findings of these checks first."""
    aside: int = 0
    """The number of objects that it matches by kind or name and that were judged only as part of others."""
    known: bool = True
    """Whether each of its checks was evaluated on each object that it matches."""
