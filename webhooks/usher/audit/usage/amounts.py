"""The usage of a workload or a group, summed over ledger entries and current pods."""

from collections.abc import Iterable

from usher.audit.document.usage import Cost, Usage
from usher.audit.usage import tallies
from usher.audit.usage.ledger import Entry
from usher.audit.usage.metrics import MEBIBYTE
from usher.audit.usage.tallies import Tally
from usher.dataclass import dataclass

_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The GPUs that a pod holds now."""

    gpus: float
    price: float | None
    """Price of a GPU for an hour."""


def usage(entries: Iterable[Entry], now: Iterable[Now], *, currency: str) -> Usage:
    """The summed usage. Without entries it only has what pods hold now."""
    found, holding = list(entries), list(now)
    gpus = sum(each.gpus for each in holding)
    priced = [each.gpus * each.price for each in holding if each.price is not None]
    per_hour = rounded(sum(priced)) if priced else None
    if not found:
        return Usage(gpus_now=rounded(gpus), cost_per_hour=per_hour)
    tally = tallies.total(each.tally for each in found)
    return Usage(
        gpus_now=rounded(gpus),
        allocated=rounded(tally.allocated),
        measured=rounded(tally.measured),
        used=_measured(tally, tally.used),
        idle=_measured(tally, tally.idle),
        activity=optional(tally.activity),
        memory_share=optional(tally.memory_share),
        memory_peak=round(tally.memory_peak * MEBIBYTE) if tally.memory_peak else None,
        cost=cost(found, currency=currency),
        not_priced=rounded(sum(each.tally.allocated for each in found if each.price is None)),
        cost_per_hour=per_hour,
    )


def cost(entries: Iterable[Entry], *, currency: str) -> Cost | None:
    """The money of the entries that have a price; None if no entry has one, or the priced entries held no GPU."""
    priced = [(each.tally, each.price) for each in entries if each.price is not None]
    if not any(tally.allocated for tally, _ in priced):
        return None
    is_measured = any(tally.measured for tally, _ in priced)
    has_memory = any(tally.memory for tally, _ in priced)
    return Cost(
        currency=currency,
        allocated=rounded(sum(tally.allocated * price for tally, price in priced)),
        used=rounded(sum(tally.used * price for tally, price in priced)) if is_measured else None,
        idle=rounded(sum(tally.idle * price for tally, price in priced)) if is_measured else None,
        idle_memory=rounded(sum((tally.memory - tally.memory_used) * price for tally, price in priced))
        if has_memory
        else None,
    )


def rounded(value: float) -> float:
    """A number as the document writes it: six digits, and no -0."""
    return round(value, _DIGITS) + 0.0


def optional(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _measured(tally: Tally, value: float) -> float | None:
    return rounded(value) if tally.measured else None
