"""What `usher workload show` shows of a manifest: the value that `scan` hands to `reports`."""

from dataclasses import dataclass

from usher import model
from usher.workloads.grown_workloads import Growth


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaler:
    """Another object of the file that says how many replicas the workload may have."""

    growth: Growth
    effective: bool
    """Whether it changes anything: not while it is held, nor where the kind has no number that it could set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One workload of a file."""

    source: str
    line: int
    """First line of its document."""
    workload: model.Workload
    """With the pods and the totals that other objects of the file let it grow to."""
    scalers: tuple[Scaler, ...]
    input: bytes
    """What the policies see of the object, as JSON: they judge it without what lets it grow."""
