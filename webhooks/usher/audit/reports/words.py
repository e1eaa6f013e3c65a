"""Names of what stands in an audit document, and sums of its entries, for people."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from usher.audit.document import Audit, FindingEntry, Severity, Standing, Subject, Summary
from usher.audit.document.fleet import FleetSummary
from usher.audit.reports.numbers import TEXT
from usher.reports import wording
from usher.scan.findings import Identity

_NO_WEBHOOKS: Final = "USA050"
"""The finding that no webhook of usher is registered."""


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
    """The accelerators of several entries, of those that are known; as one text."""
    found, rest = list(entries), Counter[str]()
    for each in found:
        rest.update(each.other_accelerators)
    known = any(each.gpus is not None for each in found)
    most, least = (sum(each.known_gpus for each in found), sum(each.known_least for each in found))
    return TEXT.accelerators(most if known else None, least, rest)


def asked(audit: Audit) -> str:
    """What all workloads ask for together."""
    found = audit.summary
    most = sum(each.known_gpus for each in audit.workloads) if found.gpus_asked is None else found.gpus_asked
    return TEXT.accelerators(most, found.gpus_asked_least, found.other_asked)


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
    return TEXT.others({name: number for name, number in found.accelerators.items() if name in found.other_asked})


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
