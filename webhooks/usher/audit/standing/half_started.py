"""Gangs whose first pods hold GPUs while the others wait."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from usher.audit.document import FindingEntry
from usher.audit.estate import Workload
from usher.audit.standing import entries, gangs
from usher.audit.standing.situation import Situation, span
from usher.scan import devices

GRACE: Final = timedelta(minutes=15)
"""The scheduler places the pods of a gang one after the other, and an autoscaler needs minutes for a node."""

_PREVENTING: Final = ("USH501", "USH502", "USH503", "USH509", "USH417", "USH516", "USH331")
"""Checks whose denial keeps a gang from starting in parts."""


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each gang that holds GPUs and has waited for its other pods longer than the grace."""
    for workload in situation.estate.workloads:
        if gangs.is_gang(workload):
            yield from _of(workload, situation)


def _of(workload: Workload, situation: Situation) -> Iterator[FindingEntry]:
    held = [pod for pod in workload.pods if pod.holds and not pod.terminating]
    waiting = [pod for pod in workload.pods if gangs.waits(pod)]
    if not held or not waiting or len(held) + workload.other_pods >= workload.wanted.minimum:
        return
    began = [pod.created for pod in waiting if pod.created is not None]
    since = min(began, default=None)
    if since is None or situation.now - since <= GRACE:
        return
    amounts = devices.added(pod.devices for pod in held)
    gpus = entries.gpus(amounts)
    holding = ", ".join(f"{amount.number:,} {name}" for name, amount in amounts.items())
    codes = set(situation.codes(workload))
    yield entries.finding(
        "USA002",
        entries.of_workload(workload),
        f"{entries.counted(len(held), 'pod')} of its gang {'holds' if len(held) == 1 else 'hold'} {holding}, and "
        f"{entries.counted(len(waiting), 'pod')} waited for {span(since, situation.now)}",
        evidence=[
            f"on nodes: {', '.join(sorted({pod.node for pod in held})[:5])}",
            *sorted({f"scheduler: {pod.waiting}" for pod in waiting if pod.waiting})[:3],
        ],
        team=workload.team,
        gpus=gpus,
        since=since,
        held_by="scheduler",
        prevented_by=next((code for code in _PREVENTING if code in codes), ""),
    )
