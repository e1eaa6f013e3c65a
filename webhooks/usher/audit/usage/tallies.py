"""GPU-hours that can be added: those of one pod on one node, and their sums."""

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
    """GPU-hours of whole GPUs, and of parts of GPUs by their share. Counting fills it; later code only reads it."""

    allocated: float = 0.0
    measured: float = 0.0
    """The allocated hours with a known activity."""
    used: float = 0.0
    """The measured hours, each weighted with its activity."""
    idle: float = 0.0
    """The measured hours in idle stretches."""
    memory: float = 0.0
    """The allocated hours with a known share of used memory."""
    memory_used: float = 0.0
    """The hours of `memory`, each weighted with the share of used memory."""
    memory_peak: float = 0.0
    """In MiB on one device."""
    memory_total: float = 0.0
    """In MiB of the largest device."""
    first: int | None = None
    """The first point of the window at which the pod held a GPU."""
    bins: list[float] = field(default_factory=lambda: _zeros(BINS + 1))
    """Measured hours by activity in whole percent."""
    allocated_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS))
    """Allocated hours by hour of the day, in UTC."""
    measured_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS))
    used_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS))

    @property
    def activity(self) -> float | None:
        return self.used / self.measured if self.measured else None

    @property
    def memory_share(self) -> float | None:
        return self.memory_used / self.memory if self.memory else None

    def activity_at(self, share: float) -> float | None:
        """The activity, in whole percent, that this share of the measured GPU-hours does not exceed."""
        if not self.measured:
            return None
        passed = 0.0
        for percent, hours in enumerate(self.bins):
            passed += hours
            if passed >= share * self.measured * (1 - 1e-9):
                return percent / BINS
        return 1.0


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of the tallies, with the highest of their peaks."""
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
