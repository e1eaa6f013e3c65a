"""The audits before the one of the demo, so that its report shows what changed."""

from datetime import datetime, timedelta
from typing import Final

from usher.audit import times
from usher.audit.document import Audit, Entry, FindingEntry, Point, Trend

_WEEK: Final = timedelta(days=7)

_IDLE: Final = (1.52, 1.55, 1.41, 1.38, 1.22, 1.25, 1.09)
"""Idle GPU-hours of the weeks before, as multiples of those of now; oldest first."""

_FIXED: Final = (
    ("USH502", "The pods of distributed training start together", "Job speech/whisper-tune-3"),
    ("USA030", "GPU nodes without a taint", "Cluster board NVIDIA-H100-80GB-HBM3"),
)


def with_past(audit: Audit, *, now: datetime) -> Audit:
    """The audit, compared with an invented one for each of seven weeks before."""
    weeks = [times.text(now - _WEEK * (len(_IDLE) - number)) for number in range(len(_IDLE))]
    points = tuple(_point(audit, taken, times_idle) for taken, times_idle in zip(weeks, _IDLE, strict=True))
    seen = {each.fingerprint: _first_seen(each, weeks, audit.taken) for each in audit.findings}
    trend = Trend(
        previous=weeks[-1],
        new=tuple(sorted(fingerprint for fingerprint, first in seen.items() if first == audit.taken)),
        fixed=tuple(_fixed(*each, first=weeks[2], last=weeks[-1]) for each in _FIXED),
        first_seen=dict(sorted(seen.items())),
        points=(*points, _point(audit, audit.taken, 1.0)),
    )
    return audit.model_copy(update={"trend": trend})


def _first_seen(found: FindingEntry, weeks: list[str], now: str) -> str:
    """The first audit after what the finding is about began; without a beginning any of them."""
    if not found.since:
        return weeks[sum(found.subject.name.encode()) % len(weeks)]
    return next((week for week in weeks if week >= found.since), now)


def _point(audit: Audit, taken: str, times_idle: float) -> Point:
    summary = audit.summary
    idle, cost, activity = summary.idle, summary.cost_idle, summary.activity
    return Point(
        taken=taken,
        complete=True,
        gpus=summary.gpus,
        gpus_allocated=summary.gpus_allocated,
        idle=None if idle is None else round(idle * times_idle, 6),
        idle_cost=None if cost is None else round(cost * times_idle, 6),
        activity=None if activity is None else round(activity / times_idle, 6),
        findings=round(len(audit.findings) * times_idle),
        never=summary.workloads_never,
        readiness_failed=round(summary.readiness.get("fail", 0) * times_idle),
    )


def _fixed(code: str, title: str, subject: str, *, first: str, last: str) -> Entry:
    return Entry(
        fingerprint=f"{code} {subject}", code=code, title=title, subject=subject, first_seen=first, last_seen=last
    )
