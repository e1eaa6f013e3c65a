"""Workloads that have waited all the time: they held no GPU, so there was nothing to measure."""

from typing import Final

from usher.audit.document import Audit, Prevented, WorkloadEntry, WorkloadState

HELD_NONE: Final = "held no GPU"
"""Instead of hours of a workload that has only waited."""
NO_MONEY: Final = "\N{EN DASH}"
WASTE: Final = (HELD_NONE, HELD_NONE, NO_MONEY)
"""Instead of two amounts of hours and their money."""

_WAITING: Final = frozenset({WorkloadState.PENDING, WorkloadState.SUSPENDED})


def by_workload(each: WorkloadEntry) -> bool:
    """Whether a workload held no GPU in the window; true only for a measured audit."""
    return each.state in _WAITING and not each.usage.allocated and not each.usage.gpus_now


def by_rule(audit: Audit, row: Prevented) -> bool:
    """Whether this is so of all workloads in which a rule finds a mistake."""
    if audit.summary.measured is None or row.idle is not None or row.stuck:
        return False
    codes = {
        (found.subject, code)
        for found in audit.findings
        for code in (found.code, found.prevented_by, found.preventable_by)
    }
    named = [each for each in audit.workloads if (each.subject, row.code) in codes]
    return bool(named) and all(map(by_workload, named))
