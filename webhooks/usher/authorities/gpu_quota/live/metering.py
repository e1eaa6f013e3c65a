"""What is counted about charging; who shows it is the server's matter."""

from enum import StrEnum
from typing import Final, Protocol


class Result(StrEnum):
    """What came of a charge."""

    GRANTED = "granted"
    REFUSED = "refused"
    FORCED = "forced"
    """Charged though it was refused, because the site only warns."""
    COVERED = "covered"
    """Charged before, or with the workload that it belongs to."""
    DRY_RUN = "dry_run"
    FULL = "full"
    """The object has no room for another charge."""
    FAILED = "failed"
    """Nobody can say: the API server did not answer, or not in time."""


class Action(StrEnum):
    """What was changed so that a ledger says what there is."""

    SETTLED = "settled"
    RELEASED = "released"
    ADOPTED = "adopted"
    CONDITION = "condition"
    """Nothing of the charges: the quota says something else of its state."""


class Meter(Protocol):
    """What counts."""

    def charged(self, result: Result, *, seconds: float) -> None: ...

    def conflicted(self) -> None:
        """Another wrote the quota first."""
        ...

    def reconciled(self, action: Action) -> None: ...


class _Nobody:
    def charged(self, result: Result, *, seconds: float) -> None: ...

    def conflicted(self) -> None: ...

    def reconciled(self, action: Action) -> None: ...


NOBODY: Final[Meter] = _Nobody()
