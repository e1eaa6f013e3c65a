"""GPU-hours from raw samples by code of its own, which shares nothing with usher: what tests compare the audit with.

A step of ten minutes has the mean of its samples. One or two steps without a sample take the value before them. A pod
held its devices in the steps in which kube-state-metrics saw it running.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from integration.recorded_gpus import HOURS, START, Samples, Stay

STEP: Final = 600
STEPS: Final = HOURS * 3600 // STEP


@dataclass(slots=True, kw_only=True)
class Hours:
    allocated: float = 0.0
    measured: float = 0.0
    used: float = 0.0
    idle: float = 0.0
    memory: float = 0.0
    memory_used: float = 0.0
    memory_peak: float = 0.0
    """MiB."""
    cost: float = 0.0
    cost_used: float = 0.0
    cost_idle: float = 0.0
    cost_idle_memory: float = 0.0


def by_step(samples: Samples) -> list[float | None]:
    """The mean of the samples of each step, with short holes filled."""
    found: list[list[float]] = [[] for _ in range(STEPS)]
    for at, value in samples:
        found[(at - START) // STEP].append(value)
    means: list[float | None] = [math.fsum(values) / len(values) if values else None for values in found]
    known = [step for step, mean in enumerate(means) if mean is not None]
    for one, other in itertools.pairwise(known):
        if 1 < other - one <= 3:
            for step in range(one + 1, other):
                means[step] = means[one]
    return means


def hours(stays: Iterable[Stay], *, price: Callable[[Stay], float], below: float = 0.4, lasting: int = 6) -> Hours:
    """The sum over some stays; an idle stretch has at least `lasting` steps below an activity."""
    total = Hours()
    for stay in stays:
        one = _of(stay, below=below, lasting=lasting)
        total.cost += one.allocated * price(stay)
        total.cost_used += one.used * price(stay)
        total.cost_idle += one.idle * price(stay)
        total.cost_idle_memory += (one.memory - one.memory_used) * price(stay)
        total.memory_peak = max(total.memory_peak, one.memory_peak)
        for name in ("allocated", "measured", "used", "idle", "memory", "memory_used"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    return total


def _of(stay: Stay, *, below: float, lasting: int) -> Hours:
    found = Hours(allocated=(stay.end_hour - stay.first_hour) * stay.share)
    weight = stay.share * STEP / 3600
    activity = by_step([(at, value / stay.unit) for at, value in stay.samples()])
    used = by_step([(at, value) for at, value, _ in stay.memory()])
    free = by_step([(at, value) for at, _, value in stay.memory()])
    low: list[int] = []
    for step, value in enumerate([*activity, None]):
        if value is not None:
            found.measured += weight
            found.used += weight * value
        if value is not None and value < below:
            low.append(step)
            continue
        found.idle += weight * len(low) if len(low) >= lasting else 0
        low = []
    for one, other in zip(used, free, strict=True):
        if one is not None and other is not None:
            found.memory += weight
            found.memory_used += weight * one / (one + other)
    found.memory_peak = max((value for _, value, _ in stay.memory()), default=0)
    return found
