"""Earlier audits of the demo, so that its report shows changes."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from usher.audit import times
from usher.audit.document import Audit, Entry, FindingEntry, Point, Trend
from usher.dataclass import dataclass

_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Week:
    """An audit of an earlier week, relative to the present one."""

    idle: float
    """Idle GPU-hours, as a multiple of the present ones."""
    held: float
    """GPUs that pods held, as a multiple of the present ones."""
    fixed: int
    """Findings that later audits do not have."""
    never: int
    """How many of these are workloads that could never run."""


_WEEKS: Final = (
    _Week(idle=1.52, held=0.93, fixed=31, never=3),
    _Week(idle=1.55, held=0.95, fixed=32, never=3),
    _Week(idle=1.41, held=0.91, fixed=29, never=2),
    _Week(idle=1.38, held=0.94, fixed=25, never=2),
    _Week(idle=1.22, held=0.97, fixed=18, never=1),
    _Week(idle=1.25, held=0.98, fixed=14, never=1),
    _Week(idle=1.09, held=0.96, fixed=3, never=1),
)
"""The weeks, oldest first. The findings of the last one are in `_FIXED`."""

_FIXED: Final = (
    ("USH502", "The pods of distributed training start together", "Job speech/whisper-tune-3"),
    ("USA001", "A workload waits that can never run", "Job vision/segment-v4"),
    ("USA030", "GPU nodes without a taint", "Cluster board NVIDIA-H100-80GB-HBM3"),
)


def with_past(audit: Audit, *, now: datetime) -> Audit:
    """The audit, compared with invented audits of the seven weeks before."""
    weeks = {times.text(now - _WEEK * (len(_WEEKS) - number)): each for number, each in enumerate(_WEEKS)}
    *_, previous = weeks
    seen = {each.fingerprint: _first_seen(each, list(weeks), audit.taken) for each in audit.findings}
    today = _Week(idle=1, held=1, fixed=0, never=0)
    trend = Trend(
        previous=previous,
        new=tuple(sorted(fingerprint for fingerprint, first in seen.items() if first == audit.taken)),
        fixed=tuple(_fixed(*each, first=list(weeks)[2], last=previous) for each in _FIXED),
        first_seen=dict(sorted(seen.items())),
        points=tuple(_point(audit, seen, taken, each) for taken, each in {**weeks, audit.taken: today}.items()),
    )
    return audit.model_copy(update={"trend": trend})


def _first_seen(found: FindingEntry, weeks: list[str], now: str) -> str:
    """The first audit after the start of a finding; any audit for a finding without a start."""
    if not found.since:
        return weeks[sum(found.subject.name.encode()) % len(weeks)]
    return next((week for week in weeks if week >= found.since), now)


def _point(audit: Audit, seen: Mapping[str, str], taken: str, week: _Week) -> Point:
    """The numbers of a week; `seen` has the first audit of each present finding."""
    summary = audit.summary
    idle, cost, activity = summary.idle, summary.cost_idle, summary.activity
    there = [each for each in audit.findings if seen[each.fingerprint] <= taken]
    return Point(
        taken=taken,
        complete=True,
        gpus=summary.gpus,
        gpus_allocated=round((summary.gpus_allocated or 0.0) * week.held, 6),
        idle=None if idle is None else round(idle * week.idle, 6),
        not_held=_rest(summary.not_held, summary.allocated, week),
        not_held_cost=_rest(summary.cost_not_held, summary.cost_allocated, week),
        idle_cost=None if cost is None else round(cost * week.idle, 6),
        activity=None if activity is None else round(activity / week.idle, 6),
        findings=len(there) + week.fixed,
        never=len({each.subject for each in there if each.never}) + week.never,
        readiness_failed=round(summary.readiness.get("fail", 0) * week.idle),
    )


def _rest(not_held: float | None, held: float | None, week: _Week) -> float | None:
    """The GPUs that no pod held in a week whose pods held more or fewer GPUs than now."""
    return None if not_held is None or held is None else round(not_held + held * (1 - week.held), 6)


def _fixed(code: str, title: str, subject: str, *, first: str, last: str) -> Entry:
    return Entry(
        fingerprint=f"{code} {subject}", code=code, title=title, subject=subject, first_seen=first, last_seen=last
    )
