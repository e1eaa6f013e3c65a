"""Findings about gangs whose first pods hold GPUs while the others wait."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import FindingEntry
from usher.audit.estate import Workload
from usher.audit.standing import entries, gangs
from usher.audit.standing.situation import Situation, span
from usher.check import devices

CODE: Final = "USA002"
"""The sum of the GPUs of these findings is the headline number of half-started gangs."""

_PREVENTING: Final = ("USH501", "USH502", "USH503", "USH509", "USH417", "USH516", "USH331")
"""Checks that keep a gang from starting in part, if they deny."""


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each gang that holds GPUs while its other pods have waited longer than the grace."""
    for workload in situation.estate.workloads:
        yield from _of(workload, situation)


def _of(workload: Workload, situation: Situation) -> Iterator[FindingEntry]:
    half = gangs.half_started(workload, situation.now, situation.records)
    if half is None:
        return
    held, waiting, since = half.held, half.waiting, half.since
    amounts = devices.added(pod.devices for pod in held)
    holding = ", ".join(f"{amount.number:,} {name}" for name, amount in amounts.items())
    yield entries.finding(
        CODE,
        entries.of_workload(workload),
        f"{entries.counted(len(held), 'pod')} of its gang {'holds' if len(held) == 1 else 'hold'} {holding}, and "
        f"{entries.counted(len(waiting), 'pod')} waited for {span(since, situation.now)}",
        evidence=[
            f"on nodes: {', '.join(sorted({pod.node for pod in held})[:5])}",
            *sorted({f"scheduler: {pod.waiting}" for pod in waiting if pod.waiting})[:3],
        ],
        team=workload.team,
        gpus=situation.held(half.held),
        since=since,
        held_by="scheduler",
        gpus_lost=situation.held(half.held),
        cost_per_hour=_cost(half, situation),
        prevention=situation.preventing(workload, _PREVENTING),
    )


def _cost(half: gangs.HalfStarted, situation: Situation) -> float | None:
    """The cost in an hour of the GPUs that the gang holds; None if one of them has no price."""
    costs = [(situation.held([pod]), situation.price(pod.node)) for pod in half.held]
    known = [number * price for number, price in costs if price is not None]
    return sum(known) if known and len(known) == len(costs) else None
