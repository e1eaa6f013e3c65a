"""GPUs that do no work until somebody repairs a node or helps a gang: how long, and what that costs."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, FindingEntry
from usher.audit.reports import numbers
from usher.dataclass import dataclass

_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a finding has cost in the window; without a window, what it costs in an hour."""

    finding: FindingEntry
    gpus: float
    hours: float | None
    """GPU-hours of the window; None where nothing was measured."""
    cost: float | None
    """None where not priced."""


def of(audit: Audit) -> Iterator[Repair]:
    """Those of findings whose object has no saving that counts.

    GPUs count since they are lost, but not longer than the window, and for the whole window where no time is known.
    """
    saved = {each.subject for each in audit.savings if each.adds_up}
    window = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
    for found in audit.findings:
        if found.gpus_lost and found.subject not in saved:
            lasting = numbers.seconds_between(found.since, audit.taken)
            past = window if window is None or lasting is None else min(window, lasting)
            hours = None if past is None else past / _HOUR
            yield Repair(
                finding=found,
                gpus=found.gpus_lost,
                hours=None if hours is None else found.gpus_lost * hours,
                cost=None if found.cost_per_hour is None else found.cost_per_hour * (1 if hours is None else hours),
            )
