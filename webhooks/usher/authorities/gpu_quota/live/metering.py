"""The events of charging that a meter counts. The server exports them as metrics."""

from enum import StrEnum
from typing import Final, Protocol


class Result(StrEnum):
    """The result of a charge."""

    GRANTED = "granted"
    REFUSED = "refused"
    FORCED = "forced"
    """Charged beyond the limit, because the check only warns."""
    COVERED = "covered"
    """Charged before, or covered by the workload that owns it."""
    DRY_RUN = "dry_run"
    FULL = "full"
    """The account has no room for another entry."""
    FAILED = "failed"
    """The result is unknown: the API server did not answer in time."""


class Action(StrEnum):
    """A correction of an account, or of the condition of a GPUQuota."""

    SETTLED = "settled"
    RELEASED = "released"
    ADOPTED = "adopted"
    CONDITION = "condition"


class Meter(Protocol):
    """Counts events."""

    def charged(self, result: Result, *, seconds: float) -> None: ...

    def conflicted(self) -> None:
        """Another replica wrote first."""
        ...

    def reconciled(self, action: Action) -> None: ...


class _NoMeter:
    def charged(self, result: Result, *, seconds: float) -> None: ...

    def conflicted(self) -> None: ...

    def reconciled(self, action: Action) -> None: ...


NO_METER: Final[Meter] = _NoMeter()
