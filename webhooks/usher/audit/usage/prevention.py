"""The idle and stuck GPU-hours that usher's own rules would have prevented, by the rule that denies the workloads.

A rule that only warns prevents nothing. It has a row of its own if a finding about the cluster names it: what it would
have prevented if it denied. A workload whose mistake the mutations of admission mend would have run as well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from usher.audit.document.audit_entries import FindingEntry, Prevented, Subject, WorkloadEntry
from usher.audit.usage import usage_amounts

Key = tuple[str, ...]

_ABOUT_THE_CLUSTER: Final = "cluster"


class _Rule(NamedTuple):
    code: str
    denies: bool


def prevented(
    findings: Iterable[FindingEntry], workloads: Iterable[WorkloadEntry], *, window: timedelta, now: datetime
) -> tuple[Prevented, ...]:
    """One row for each rule: rules that deny first, then by GPU-hours, the most first.

    Args:
        findings: the findings; usher skips those with an exception, because admission would let their workloads in.
        window: stuck GPU-hours count only within it.
    """
    entries = {_key(entry.subject): entry for entry in workloads}
    by_rule: dict[_Rule, list[FindingEntry]] = {}
    titles: dict[str, str] = {}
    for finding in findings:
        titles.setdefault(finding.code, finding.title)
        for rule in _rules(finding):
            if not finding.exception and _key(finding.subject) in entries:
                by_rule.setdefault(rule, []).append(finding)
    rows = []
    for rule, found in by_rule.items():
        title = titles.get(rule.code, found[0].title)
        held = [entries[key] for key in sorted({_key(each.subject) for each in found})]
        row = _row(rule, title, held, _stuck(found, window, now))
        if row.idle or row.stuck or any(_about_the_cluster(each) for each in found):
            rows.append(row)
    return tuple(sorted(rows, key=lambda row: (not row.denies, -max(row.idle or 0, row.stuck), -row.gpus, row.code)))


def _rules(finding: FindingEntry) -> Iterator[_Rule]:
    """The rules that would have refused the object."""
    if finding.prevented_by:
        yield _Rule(finding.prevented_by, denies=True)
    elif finding.preventable_by:
        yield _Rule(finding.preventable_by, denies=False)
    elif finding.outcome == "deny" and not finding.mended_by and not _about_the_cluster(finding):
        yield _Rule(finding.code, denies=True)


def _about_the_cluster(finding: FindingEntry) -> bool:
    return finding.category == _ABOUT_THE_CLUSTER


def _stuck(found: Iterable[FindingEntry], window: timedelta, now: datetime) -> dict[Key, float]:
    """The hours since an authority began to hold back each workload. A finding about another mistake has no
    authority.
    """
    hours: dict[Key, float] = {}
    for finding in found:
        if _about_the_cluster(finding) and finding.held_by:
            key = _key(finding.subject)
            hours[key] = max(hours.get(key, 0.0), _hours_since(finding.since, window, now))
    return hours


def _row(rule: _Rule, title: str, entries: Sequence[WorkloadEntry], stuck: Mapping[Key, float]) -> Prevented:
    idle = [entry.usage.idle for entry in entries if entry.usage.idle is not None]
    held = [entry.usage.gpus_now * stuck.get(_key(entry.subject), 0.0) for entry in entries]
    costs = [cost for entry in entries if (cost := _cost(entry, stuck.get(_key(entry.subject), 0.0))) is not None]
    return Prevented(
        code=rule.code,
        title=title,
        denies=rule.denies,
        workloads=len(entries),
        gpus=usage_amounts.rounded(sum(entry.usage.gpus_now or entry.known_gpus for entry in entries)),
        idle=usage_amounts.rounded(sum(idle)) if idle else None,
        stuck=usage_amounts.rounded(sum(held)),
        cost=usage_amounts.rounded(sum(costs)) if costs else None,
    )


def _cost(entry: WorkloadEntry, hours: float) -> float | None:
    """The cost of the idle or the stuck GPU-hours, whichever is more: a stuck GPU is idle too."""
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
