"""The exceptions of usher.yaml in a report."""

from datetime import date
from enum import StrEnum

from usher.dataclass import dataclass


class ExceptionState(StrEnum):
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
    """How many findings it covers."""
