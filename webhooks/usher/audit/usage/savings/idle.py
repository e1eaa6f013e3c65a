"""Savings for workloads that hold GPUs now and were idle for most of the measured time."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from usher import model
from usher.audit import estate
from usher.audit.standing.gangs import HalfStarted, half_started
from usher.audit.usage.savings import case as cases
from usher.audit.usage.savings.case import Candidate, Case
from usher.config.fields import seconds

KIND: Final = "idle workload"

_MOSTLY: Final = 0.5
"""Idle share of the measured GPU-hours above which a workload has too many replicas."""

_NEARLY_ALWAYS: Final = 0.8
"""Idle share of the measured GPU-hours above which the whole workload may be stopped."""

_STOPPED: Final = "kubeflow-resource-stopped"
"""The annotation by which Kubeflow stops a Notebook (kinds/kubeflow/training_jobs.py)."""

_MOST_OF_THE_TIME: Final = 0.95

_NOT_USED: Final = 0.01
"""Mean activity below which the workload needs no replica."""


def find(case: Case) -> Candidate | None:
    tally = case.tally
    least = _MOSTLY if case.replicas_path else _NEARLY_ALWAYS
    if not case.holding or not case.is_measured or tally.idle < least * tally.measured:
        return None
    kept = _kept(case)
    part = 1 - kept / len(case.holding)
    if part <= 0:
        return None
    idle = case.config.idle
    found = cases.saving(
        case,
        kind=KIND,
        evidence=(
            (
                f"{cases.hours(tally.idle)} of {cases.hours(tally.measured)} measured GPU-hours were idle: activity "
                f"below {cases.percent(idle.below)} for at least {seconds(idle.lasting) / 60:.0f} minutes"
            ),
            (
                f"Mean activity {cases.percent(tally.activity or 0)}; at most "
                f"{cases.percent(tally.activity_at(_MOST_OF_THE_TIME) or 0)} in 95 % of the GPU-hours"
            ),
            f"{len(case.holding)} {'pod holds' if len(case.holding) == 1 else 'pods hold'} GPUs now",
            *_other_half(case),
        ),
        change=_change(case, kept),
        gpu_hours=tally.idle * part,
        paid_hours=case.each(entry.tally.idle * part for entry in case.entries),
    )
    return Candidate(saving=found)


def _half(case: Case) -> HalfStarted | None:
    return half_started(case.workload, datetime.fromtimestamp(case.grid.end, UTC))


def _other_half(case: Case) -> Iterator[str]:
    """The reason why a gang is idle: its other pods have no room."""
    half = _half(case)
    if half is not None:
        waiting = half.waiting
        number = f"{len(waiting)} of its pods {'waits' if len(waiting) == 1 else 'wait'}"
        yield f"It is half of a gang: {number} for a node, and without them the others only hold their GPUs"
        yield from _room(case, waiting)


def _room(case: Case, waiting: Sequence[estate.Pod]) -> Iterator[str]:
    """How many of the waiting pods the free devices of its boards have room for."""
    if not case.offers.free_known:
        return
    products = {entry.node_type.product for entry in case.entries}
    for resource, number in sorted(
        {(name, int(amount.number)) for pod in waiting for name, amount in pod.devices.items()}
    ):
        offers = [each for each in case.offers.all if each.resource == resource and each.node.product in products]
        fitting = sum(each.free // number for each in offers) if number else 0
        yield (
            f"Free now on nodes with its board: {sum(each.free for each in offers)} {resource}, which is room for "
            f"{fitting} of the {len(waiting)} pods with {number} each"
        )


def _kept(case: Case) -> int:
    """The replicas that do the work of 95 % of the time at the highest target activity; 0 if there was no work."""
    activity = case.tally.activity_at(_MOST_OF_THE_TIME) or 0.0
    if not case.replicas_path or (case.tally.activity or 0.0) < _NOT_USED:
        return 0
    return min(max(1, math.ceil(activity * len(case.holding) / case.config.targets.activity.high)), len(case.holding))


def _change(case: Case, kept: int) -> str:
    name = str(case.workload.identity)
    if case.workload.identity.kind == "Notebook":
        return f"Stop {name}: set the annotation {_STOPPED} to the time of now. Its volumes stay"
    if case.replicas_path:
        return f"Set {case.replicas_path} of {name} from {len(case.holding)} to {kept}"
    if case.suspend_path and _half(case) is not None:
        return (
            f"Set {case.suspend_path} of {name} to true, and start it again in a queue that starts all its pods "
            "together (Kueue, Volcano). To stop it as a whole frees the most"
        )
    if case.suspend_path:
        return f"Set {case.suspend_path} of {name} to true, or delete it"
    stays = " Its volumes stay" if case.workload.role is model.Role.INTERACTIVE else ""
    return f"Delete {name} after its owner agrees.{stays}".rstrip(".")
