"""What usher's own rules would have prevented: idle and stuck GPU-hours of the workloads that each rule denies."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from usher.audit.document.findings import FindingEntry, Subject
from usher.audit.document.usage import Prevented, WorkloadEntry
from usher.audit.usage import amounts

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
    for finding in findings:
        code = _rule(finding)
        if code and not finding.exception and _key(finding.subject) in entries:
            by_code.setdefault(code, []).append(finding)
    rows = [
        _row(code, found, [entries[key] for key in sorted({_key(each.subject) for each in found})], window, now)
        for code, found in by_code.items()
    ]
    kept = [row for row in rows if row.idle or row.stuck]
    return tuple(sorted(kept, key=lambda row: (-((row.idle or 0) + row.stuck), row.code)))


def _rule(finding: FindingEntry) -> str:
    """The code of the rule that would have refused the object; empty where no rule would."""
    if finding.prevented_by:
        return finding.prevented_by
    return finding.code if finding.outcome == "deny" and finding.category != _ABOUT_THE_CLUSTER else ""


def _row(
    code: str, found: Sequence[FindingEntry], entries: Sequence[WorkloadEntry], window: timedelta, now: datetime
) -> Prevented:
    stuck = {_key(entry.subject): 0.0 for entry in entries}
    for finding in found:
        hours = _hours_since(finding.since, window, now) if finding.prevented_by else 0.0
        key = _key(finding.subject)
        stuck[key] = max(stuck[key], hours)
    idle = [entry.usage.idle for entry in entries if entry.usage.idle is not None]
    held = [entry.usage.gpus_now * stuck[_key(entry.subject)] for entry in entries]
    costs = [*_costs(entries, stuck)]
    titles = [finding.title for finding in found if finding.code == code]
    return Prevented(
        code=code,
        title=titles[0] if titles else found[0].title,
        workloads=len(entries),
        idle=amounts.rounded(sum(idle)) if idle else None,
        stuck=amounts.rounded(sum(held)),
        cost=amounts.rounded(sum(costs)) if costs else None,
    )


def _costs(entries: Iterable[WorkloadEntry], stuck: dict[tuple[str, ...], float]) -> Iterator[float]:
    for entry in entries:
        usage, hours = entry.usage, stuck[_key(entry.subject)]
        if usage.cost is not None and usage.cost.idle is not None:
            yield usage.cost.idle
        if usage.cost_per_hour is not None and hours:
            yield usage.cost_per_hour * hours


def _hours_since(since: str, window: timedelta, now: datetime) -> float:
    try:
        began = datetime.fromisoformat(since)
        length = now - began
    except (ValueError, TypeError):
        return 0.0
    return max(min(length, window).total_seconds(), 0.0) / 3600


def _key(subject: Subject) -> tuple[str, ...]:
    return subject.api_version.partition("/")[0], subject.kind, subject.namespace, subject.name
