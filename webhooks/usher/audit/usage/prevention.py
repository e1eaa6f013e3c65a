"""What usher's own rules would have prevented: idle and stuck GPU-hours of the workloads that each rule denies."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from usher.audit.document.findings import FindingEntry, Subject
from usher.audit.document.usage import Prevented, WorkloadEntry
from usher.audit.usage import amounts

Key = tuple[str, ...]

_ABOUT_THE_CLUSTER: Final = "cluster"


def prevented(
    findings: Iterable[FindingEntry], workloads: Iterable[WorkloadEntry], *, window: timedelta, now: datetime
) -> tuple[Prevented, ...]:
    """One row for each rule that denies a workload with idle or stuck GPU-hours, the most GPU-hours first.

    Args:
        findings: those with an exception are left out, because admission would let their workloads in.
        workloads: with their usage.
        window: stuck GPU-hours before it do not count.
        now: the time of the audit.
    """
    entries = {_key(entry.subject): entry for entry in workloads}
    by_code: dict[str, list[FindingEntry]] = {}
    titles: dict[str, str] = {}
    for finding in findings:
        titles.setdefault(finding.code, finding.title)
        code = _rule(finding)
        if code and not finding.exception and _key(finding.subject) in entries:
            by_code.setdefault(code, []).append(finding)
    rows = [
        _row(
            code,
            titles.get(code, found[0].title),
            [entries[key] for key in sorted({_key(each.subject) for each in found})],
            _stuck(found, window, now),
        )
        for code, found in by_code.items()
    ]
    kept = [row for row in rows if row.idle or row.stuck]
    return tuple(sorted(kept, key=lambda row: (-max(row.idle or 0, row.stuck), row.code)))


def _rule(finding: FindingEntry) -> str:
    """The code of the rule that would have refused the object; empty where no rule would."""
    if finding.prevented_by:
        return finding.prevented_by
    return finding.code if finding.outcome == "deny" and finding.category != _ABOUT_THE_CLUSTER else ""


def _stuck(found: Iterable[FindingEntry], window: timedelta, now: datetime) -> dict[Key, float]:
    """The hours since which an authority holds each workload back; a finding about another mistake has no authority."""
    hours: dict[Key, float] = {}
    for finding in found:
        if finding.prevented_by and finding.held_by:
            key = _key(finding.subject)
            hours[key] = max(hours.get(key, 0.0), _hours_since(finding.since, window, now))
    return hours


def _row(code: str, title: str, entries: Sequence[WorkloadEntry], stuck: Mapping[Key, float]) -> Prevented:
    idle = [entry.usage.idle for entry in entries if entry.usage.idle is not None]
    held = [entry.usage.gpus_now * stuck.get(_key(entry.subject), 0.0) for entry in entries]
    costs = [cost for entry in entries if (cost := _cost(entry, stuck.get(_key(entry.subject), 0.0))) is not None]
    return Prevented(
        code=code,
        title=title,
        workloads=len(entries),
        idle=amounts.rounded(sum(idle)) if idle else None,
        stuck=amounts.rounded(sum(held)),
        cost=amounts.rounded(sum(costs)) if costs else None,
    )


def _cost(entry: WorkloadEntry, hours: float) -> float | None:
    """Of the idle or the stuck GPU-hours, whichever is more: a GPU that is stuck is idle as well."""
    usage = entry.usage
    idle = usage.cost.idle if usage.cost is not None else None
    stuck = usage.cost_per_hour * hours if usage.cost_per_hour is not None and hours else None
    return max((each for each in (idle, stuck) if each is not None), default=None)


def _hours_since(since: str, window: timedelta, now: datetime) -> float:
    try:
        began = datetime.fromisoformat(since)
        length = now - began
    except (ValueError, TypeError):
        return 0.0
    return max(min(length, window).total_seconds(), 0.0) / 3600


def _key(subject: Subject) -> Key:
    return subject.api_version.partition("/")[0], subject.kind, subject.namespace, subject.name
