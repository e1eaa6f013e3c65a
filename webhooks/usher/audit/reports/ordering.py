"""The order of entries in reports for people: the page and Markdown show them alike."""

from collections.abc import Iterable
from typing import Final

from usher.audit.document import FindingEntry, Saving, Severity, WorkloadEntry
from usher.audit.reports import words

_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


def rank(severity: Severity) -> int:
    """0 for the worst severity."""
    return _RANKS[severity]


def findings(found: Iterable[FindingEntry]) -> list[FindingEntry]:
    """Worst first, and of those the ones that can never run, then the most GPUs."""
    return sorted(
        found,
        key=lambda each: (
            rank(each.severity),
            not each.never,
            -each.known_gpus,
            each.code,
            words.subject(each.subject),
        ),
    )


def savings(found: Iterable[Saving]) -> list[Saving]:
    """Those that the sum counts before the others, and of each the most money first."""
    return sorted(found, key=lambda each: (not each.adds_up, -(each.cost or 0.0), -each.gpu_hours, each.kind))


def workloads(found: Iterable[WorkloadEntry]) -> list[WorkloadEntry]:
    """Most idle GPU-hours first, then the most GPUs."""
    return sorted(found, key=lambda each: (-(each.usage.idle or 0.0), -each.known_gpus, words.subject(each.subject)))
