"""The words, the sums and the order that reports use for the entries of an audit, and the glossary of all words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Protocol

import msgspec
from rich.text import Text

from usher.audit.document import (
    Audit,
    FindingEntry,
    Prevented,
    Saving,
    Severity,
    Standing,
    Subject,
    Summary,
    WorkloadEntry,
    WorkloadState,
)
from usher.audit.document.fleet_document import FleetSummary
from usher.audit.reports import cells
from usher.audit.reports.html_elements import Html, Section, element, joined
from usher.audit.reports.numbers import TEXT
from usher.check.findings import Identity
from usher.check.formats import wording
from usher.check.formats.lines import Lines

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
    """An entry that holds or wants accelerators: a workload, or a finding about one."""

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
    """The accelerators that all workloads ask for together, as one text."""
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


NO_TEAM: Final = "no team"

PLATFORM: Final = "platform team"
"""Who looks after nodes, queues and usher itself."""

_EXCEPTIONS: Final = "owners of exceptions"

BADGES: Final = {
    Severity.CRITICAL: "bad",
    Severity.HIGH: "warn",
    Severity.MEDIUM: "quiet",
    Severity.LOW: "quiet",
    Standing.PASS: "good",
    Standing.FAIL: "bad",
    Standing.NOT_KNOWN: "quiet",
    Standing.NOT_APPLICABLE: "quiet",
    WorkloadState.RUNNING: "good",
    WorkloadState.PARTLY: "bad",
    WorkloadState.PENDING: "warn",
    WorkloadState.SUSPENDED: "quiet",
    WorkloadState.EMPTY: "quiet",
}
"""The look of the badge of each word."""

AT_ADMISSION: Final = {
    "deny": "would be denied",
    "warn": "would get a warning",
    "audit": "would be noted",
    "exempt": "not judged, exempt",
    "unknown": "not known",
    "clean": "would be let in",
}
"""The answer of admission in words, by the outcome."""


def place(subject: Subject) -> str:
    """`speech-dev/asr`"""
    return f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name


def name_of(subject: Subject) -> str:
    """`Job speech-dev/asr`"""
    return f"{subject.kind} {place(subject)}"


def named(subject: Subject) -> cells.Cell:
    """The cell of an object: equal for equal objects, so that a link can search for it."""
    return cells.lines(("muted", subject.kind), ("strong", place(subject)))


def owner(found: FindingEntry) -> str:
    """Who makes the change: `search`, `platform team`, `platform team, for search`."""
    if found.fixed_by_platform:
        return f"{PLATFORM}, for {found.team}" if found.team else PLATFORM
    return found.team or (NO_TEAM if found.subject.namespace else _of_cluster(found))


def group(found: FindingEntry) -> str:
    """The choice of the filter by team that has a finding; people who own an exception share one."""
    if found.subject.kind == "Config":
        return _EXCEPTIONS
    if found.fixed_by_platform:
        return PLATFORM
    return "" if (name := owner(found)) == NO_TEAM else name


def _of_cluster(found: FindingEntry) -> str:
    """Nodes, queues and quotas belong to no namespace; neither may an object of a check, whose owner is not known."""
    return PLATFORM if found.category == "cluster" else NO_TEAM


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


def severity_rank(severity: Severity) -> int:
    """0 for the worst severity."""
    return _RANKS[severity]


def worst_first(found: Iterable[FindingEntry]) -> list[FindingEntry]:
    """Worst first, and of those the ones that can never run, then the most GPUs."""
    return sorted(
        found,
        key=lambda each: (
            severity_rank(each.severity),
            not each.never,
            -each.known_gpus,
            each.code,
            subject(each.subject),
        ),
    )


def largest_first(found: Iterable[Saving]) -> list[Saving]:
    """Savings that the sum counts come before the others; in both parts, the most money comes first."""
    return sorted(found, key=lambda each: (not each.adds_up, -(each.cost or 0.0), -each.gpu_hours, each.kind))


def idlest_first(found: Iterable[WorkloadEntry]) -> list[WorkloadEntry]:
    """Most idle GPU-hours first, then the most GPUs."""
    return sorted(found, key=lambda each: (-(each.usage.idle or 0.0), -each.known_gpus, subject(each.subject)))


HELD_NONE: Final = "held no GPU"
"""Instead of hours of a workload that has only waited."""

NO_MONEY: Final = "\N{EN DASH}"


_WAITING: Final = frozenset({WorkloadState.PENDING, WorkloadState.SUSPENDED})


def held_no_gpu(each: WorkloadEntry) -> bool:
    """Whether a workload held no GPU in the window; true only for a measured audit."""
    return each.state in _WAITING and not each.usage.allocated and not each.usage.gpus_now


def held_no_gpu_by_rule(audit: Audit, row: Prevented) -> bool:
    """Whether this is so of all workloads in which a rule finds a mistake."""
    if audit.summary.measured is None or row.idle is not None or row.stuck:
        return False
    codes = {
        (found.subject, code)
        for found in audit.findings
        for code in (found.code, found.prevented_by, found.preventable_by)
    }
    named = [each for each in audit.workloads if (each.subject, row.code) in codes]
    return bool(named) and all(map(held_no_gpu, named))


SHOWN: Final = 10
"""Rows of a table or a list of text; the document has all."""
JSON_LISTS_ALL: Final = "--format json lists all"


def write_more(number: int, thing: str, lines: Lines, *, margin: int = 2) -> None:
    """Writes how many entries of a list of text are left out."""
    if number > 0:
        shown = f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {JSON_LISTS_ALL}"
        lines.write(Text(shown, style="dim"))


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A word of a report. The meaning of a number has its formula."""

    title: str
    meaning: str


GLOSSARY: Final = msgspec.yaml.decode(Path(__file__).with_name("words.yaml").read_bytes(), type=dict[str, Word])
"""The words by the name that links use."""


def meaning(name: str) -> str:
    return GLOSSARY[name].meaning


def glossary_link(name: str, label: str) -> Html:
    """A label that leads to its meaning, and shows it as a tooltip."""
    return element("a", label, href=f"#word-{name}", title=meaning(name))


def glossary_section() -> Section:
    entries = (
        element("div", element("dt", word.title, id=f"word-{name}"), element("dd", word.meaning))
        for name, word in GLOSSARY.items()
    )
    return Section(
        name="words",
        title="Glossary",
        lead="docs/audit.md of gpu-usher has every formula with its sources.",
        body=joined(element("dl", *entries, class_="words")),
    )
