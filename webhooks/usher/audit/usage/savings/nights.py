"""Savings for services whose activity falls for some hours of each day while their replicas stay the same."""

import math
from typing import Final

from usher import model
from usher.audit.usage.savings import case as cases
from usher.audit.usage.savings.case import Candidate, Case
from usher.audit.usage.tallies import HOURS

KIND: Final = "fewer replicas at night"

_FEWEST_DAYS: Final = 3
_SHORTEST: Final = 4
_LONGEST: Final = 16
"""Hours in a row. A service that is quiet for longer has too many replicas all day, which is another saving."""

_ROLES: Final = frozenset({model.Role.INFERENCE, model.Role.SERVICE})


def find(case: Case) -> Candidate | None:
    replicas = len(case.holding)
    if case.workload.role not in _ROLES or not case.replicas_path or replicas < 2:
        return None
    if case.days < _FEWEST_DAYS or not case.is_measured:
        return None
    needed = _needed(case, replicas)
    busiest = max((count for count in needed if count is not None), default=0)
    quiet = _longest_run([count is not None and count <= busiest / 2 for count in needed])
    if not _SHORTEST <= len(quiet) <= _LONGEST:
        return None
    high = case.config.targets.activity.high
    kept = max(needed[hour] or 0 for hour in quiet)
    part = 1 - kept / replicas
    saved = [sum(entry.tally.allocated_by_hour[hour] for hour in quiet) * part for entry in case.entries]
    first, end = quiet[0], (quiet[-1] + 1) % HOURS
    busy = [_activity(case, hour) for hour in range(HOURS) if hour not in quiet]
    found = cases.saving(
        case,
        kind=KIND,
        evidence=(
            (
                f"Mean activity from {first:02}:00 to {end:02}:00 UTC at most "
                f"{cases.percent(max(_activity(case, hour) or 0 for hour in quiet))}, else up to "
                f"{cases.percent(max((each for each in busy if each is not None), default=0))}"
            ),
            f"{kept} of {replicas} replicas do this work at {cases.percent(high)} activity",
        ),
        change=(
            f"Set {case.replicas_path} of {case.workload.identity} from {replicas} to {kept} between {first:02}:00 "
            f"and {end:02}:00 UTC, for example by the cron scaler of KEDA"
        ),
        gpu_hours=sum(saved),
        paid_hours=case.each(saved),
    )
    return Candidate(saving=found)


def _activity(case: Case, hour: int) -> float | None:
    measured = case.tally.measured_by_hour[hour]
    return case.tally.used_by_hour[hour] / measured if measured else None


def _needed(case: Case, replicas: int) -> list[int | None]:
    """The replicas that the work of each hour of the day needs; None for an hour without a measurement."""
    high = case.config.targets.activity.high
    return [
        None if activity is None else max(1, math.ceil(activity * replicas / high - 1e-9))
        for activity in (_activity(case, hour) for hour in range(HOURS))
    ]


def _longest_run(quiet: list[bool]) -> list[int]:
    """The hours of the longest quiet run, which may pass midnight."""
    best: list[int] = []
    for start in range(HOURS):
        run: list[int] = []
        while len(run) < HOURS and quiet[(start + len(run)) % HOURS]:
            run.append((start + len(run)) % HOURS)
        if len(run) > len(best):
            best = run
    return best
