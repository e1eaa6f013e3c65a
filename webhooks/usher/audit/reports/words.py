"""Numbers, times and names of an audit document for people."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, Protocol

from usher.audit.document import Audit, FindingEntry, Severity, Standing, Subject, Summary
from usher.audit.document.fleet import FleetSummary
from usher.reports import wording
from usher.scan.findings import Identity

UNKNOWN: Final = "GPUs not known"
_MOST_NAMES: Final = 4
_NO_WEBHOOKS: Final = "USA050"
"""The finding that no webhook of usher is registered."""
_LONGEST: Final = 63


def number(value: float) -> str:
    """`64`, `0.7`, `1,234.5`: one digit behind the point, if there is one."""
    rounded = round(value, 1)
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:,.1f}"


def between(most: float, least: float | None = None) -> str:
    """`6`; `4 to 6` where some are there at times alone: while a rollout or an autoscaler adds pods."""
    last, first = number(most), number(most if least is None else least)
    return last if first == last else f"{first} to {last}"


def span(most: float | None, least: float | None = None) -> str:
    """`1 GPU`, `6 GPUs`, `4 to 6 GPUs`."""
    return UNKNOWN if most is None else f"{between(most, least)} {'GPU' if number(most) == '1' else 'GPUs'}"


def others(found: Mapping[str, float]) -> str:
    """`256 google.com/tpu, 4 nvidia.com/mig-1g.10gb`."""
    shown = [f"{number(amount)} {name}" for name, amount in sorted(found.items()) if amount]
    more = len(shown) - _MOST_NAMES
    return ", ".join([*shown[:_MOST_NAMES], f"and {more:,} more"] if more > 0 else shown)


def amount(most: float | None, least: float | None, other: Mapping[str, float]) -> str:
    """`4 to 6 GPUs, 16 google.com/tpu`: GPUs and all other accelerators; 0 GPUs only where both are 0."""
    rest = others(other)
    if not most and most is not None and rest:
        return rest
    return ", ".join(filter(None, (span(most, least), rest)))


BY: Final = {
    "team": ("team", "no team"),
    "namespace": ("namespace", "no namespace"),
    "queue": ("queue", "no queue"),
    "priority": ("priority class", "no priority class"),
    "product": ("GPU model", "model not known"),
    "capacityType": ("how it is paid for", "not known"),
}
"""By the property of a table of usage: its name, and the name of a row without one."""


class Asking(Protocol):
    """What holds or wants accelerators: an entry of a workload, or of a finding about one."""

    @property
    def gpus(self) -> float | None: ...
    @property
    def known_gpus(self) -> float: ...
    @property
    def known_least(self) -> float: ...
    @property
    def other_accelerators(self) -> Mapping[str, float]: ...


def together(entries: Iterable[Asking]) -> str:
    """The accelerators of several entries, of those that are known; `amount` of their sums."""
    found, rest = list(entries), Counter[str]()
    for each in found:
        rest.update(each.other_accelerators)
    known = any(each.gpus is not None for each in found)
    most, least = (sum(each.known_gpus for each in found), sum(each.known_least for each in found))
    return amount(most if known else None, least, rest)


def asked(audit: Audit) -> str:
    """What all workloads ask for together."""
    found = audit.summary
    most = sum(each.known_gpus for each in audit.workloads) if found.gpus_asked is None else found.gpus_asked
    return amount(most, found.gpus_asked_least, found.other_asked)


def least_never(audit: Audit) -> float | None:
    """`gpus_never` of the summary without the GPUs that these workloads want at times alone; None where not known."""
    found = {each.subject: each for each in audit.findings if each.never}
    extra = sum(each.known_gpus - each.known_least for each in found.values())
    return None if audit.summary.gpus_never is None else audit.summary.gpus_never - extra


def switched_off(audit: Audit) -> str:
    """That usher denies nothing in this cluster; empty where its webhooks are registered, or that is not known."""
    off = any(each.code == _NO_WEBHOOKS for each in audit.findings)
    return (
        "usher is not switched on in this cluster: its webhooks are not registered, so it denies nothing."
        if off
        else ""
    )


def others_held(found: Summary) -> str:
    """`12 google.com/tpu`: the accelerators other than GPUs that pods hold; empty where they hold GPUs alone."""
    return others({name: number for name, number in found.accelerators.items() if name in found.other_asked})


def share(value: float) -> str:
    """`79 %`; a small share is not 0 %, and nearly all is not 100 %."""
    percent = value * 100
    if 0 < percent < 0.5:
        return "under 1 %"
    if 99.5 <= percent < 100:
        return "over 99 %"
    return f"{round(percent)} %"


def money(value: float, currency: str) -> str:
    """`12,345 USD`; small amounts with cents."""
    return f"{value:,.2f} {currency}" if 0 < abs(value) < 100 else f"{round(value):,} {currency}"


def subject(value: Subject) -> str:
    """`Job ml-research/bert`."""
    return str(Identity(api_version=value.api_version, kind=value.kind, namespace=value.namespace, name=value.name))


def about(found: Iterable[FindingEntry]) -> Counter[str]:
    """How many findings each object has, by its `subject`."""
    return Counter(subject(each.subject) for each in found)


def milder(outcome: str, because: str) -> str:
    """`a warning only: usher assumes ...`: why an outcome is milder than that of the rule."""
    return f"{'only noted' if outcome == 'audit' else 'a warning only'}: {because}"


def team(entry: FindingEntry) -> str:
    """`, team nlp`; empty where the namespace is the team."""
    return f", team {entry.team}" if entry.team not in ("", entry.subject.namespace) else ""


def short(name: str) -> str:
    """A name for a column: labels and namespaces of Kubernetes have at most 63 characters; longer ones are cut."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def findings(counts: Mapping[str, int]) -> str:
    """`2 errors, 10 warnings, 36 notes`, by outcome; only errors are said where they are 0."""
    parts = (
        wording.count(counts.get("deny", 0), "error") if counts.get("deny") else "no errors",
        wording.count(counts["warn"], "warning") if counts.get("warn") else "",
        wording.count(counts["audit"], "note") if counts.get("audit") else "",
    )
    return ", ".join(filter(None, parts))


def severities(found: Iterable[Severity]) -> str:
    """`10 high, 13 medium, 25 low`, worst first; empty without findings."""
    counts = Counter(found)
    return ", ".join(f"{counts[each]:,} {each.value}" for each in Severity if counts[each])


def no_nodes(audit: Audit) -> str:
    """Why the GPUs of nodes are not known."""
    if audit.cluster.is_whole:
        return "not known: usher has read no nodes"
    return "those of nodes are not shown, because this audit is about a part of the cluster"


def clusters(found: FleetSummary) -> str:
    """`3 clusters`; `2 of 3 clusters` where one of the list of the run has no part."""
    if not found.clusters_missing:
        return wording.count(found.clusters, "cluster")
    return f"{found.clusters:,} of {wording.count(found.clusters + found.clusters_missing, 'cluster')}"


def age(since: str, now: str) -> str:
    """`3 days`, `5 hours`, `20 minutes`; empty where the beginning is not known."""
    if not since or not now:
        return ""
    seconds = (datetime.fromisoformat(now) - datetime.fromisoformat(since)).total_seconds()
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        whole = int(seconds // length)
        if whole >= 1:
            return f"{whole:,} {unit if whole == 1 else unit + 's'}"
    return "less than a minute" if seconds >= 0 else ""


def moment(value: str) -> str:
    """`2026-11-23 06:00 UTC`."""
    return f"{value[:10]} {value[11:16]} UTC" if value else ""


_STANDINGS: Final = {
    Standing.FAIL: ("item fails", "items fail"),
    Standing.NOT_KNOWN: ("is not known", "are not known"),
    Standing.PASS: ("passes", "pass"),
    Standing.NOT_APPLICABLE: ("does not apply", "do not apply"),
}


def standings(counts: Mapping[str, int]) -> str:
    """`10 items fail, 1 is not known, 20 pass`, by standing of the checklist."""
    return ", ".join(
        f"{number:,} {verb if number == 1 else verbs}"
        for standing, (verb, verbs) in _STANDINGS.items()
        if (number := counts.get(standing, 0))
    )
