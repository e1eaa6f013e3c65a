"""GPU-hours that can be added: what one pod did on one node, and sums of these."""

from collections.abc import Iterable
from dataclasses import field
from typing import Final

from usher.dataclass import dataclass

BINS: Final = 100
HOURS: Final = 24


def _zeros(length: int) -> list[float]:
    return [0.0] * length


@dataclass(slots=True, kw_only=True)
class Tally:
    """GPU-hours: whole GPUs, and parts of GPUs by their share. Filled while points are counted, then only read."""

    allocated: float = 0.0
    measured: float = 0.0
    """Of the allocated ones, those whose activity is known."""
    used: float = 0.0
    """Of the measured ones, each weighted with its activity."""
    idle: float = 0.0
    """Of the measured ones, those in idle stretches."""
    memory: float = 0.0
    """Of the allocated ones, those whose share of used memory is known."""
    memory_used: float = 0.0
    """Of those, each weighted with that share."""
    memory_peak: float = 0.0
    """MiB on one device."""
    memory_total: float = 0.0
    """MiB of the largest device."""
    first: int | None = None
    """The first point of the window at which a GPU was held."""
    bins: list[float] = field(default_factory=lambda: _zeros(BINS + 1))
    """Measured ones by activity in whole percent."""
    allocated_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS))
    """By hour of the day, in UTC."""
    measured_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS))
    used_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS))

    @property
    def activity(self) -> float | None:
        return self.used / self.measured if self.measured else None

    @property
    def memory_share(self) -> float | None:
        return self.memory_used / self.memory if self.memory else None

    def activity_at(self, share: float) -> float | None:
        """The activity that the measured GPU-hours stay at or below for that share of them, in whole percent."""
        if not self.measured:
            return None
        passed = 0.0
        for percent, hours in enumerate(self.bins):
            passed += hours
            if passed >= share * self.measured * (1 - 1e-9):
                return percent / BINS
        return 1.0


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum; of peaks the highest."""
    found = Tally()
    for each in tallies:
        if each.first is not None:
            found.first = each.first if found.first is None else min(found.first, each.first)
        found.allocated += each.allocated
        found.measured += each.measured
        found.used += each.used
        found.idle += each.idle
        found.memory += each.memory
        found.memory_used += each.memory_used
        found.memory_peak = max(found.memory_peak, each.memory_peak)
        found.memory_total = max(found.memory_total, each.memory_total)
        for mine, others in (
            (found.bins, each.bins),
            (found.allocated_by_hour, each.allocated_by_hour),
            (found.measured_by_hour, each.measured_by_hour),
            (found.used_by_hour, each.used_by_hour),
        ):
            for place, value in enumerate(others):
                mine[place] += value
    return found
