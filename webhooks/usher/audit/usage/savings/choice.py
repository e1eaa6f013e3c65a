"""Lists all savings, the largest first. For each workload, only the largest one that can be made now counts
in the sum.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from usher.audit.document.usage import Saving
from usher.audit.estate import Estate
from usher.audit.usage import tallies
from usher.audit.usage.ledger import Entry
from usher.audit.usage.savings import idle, mig_profiles, nights, offers, spot
from usher.audit.usage.savings.case import Candidate, Case
from usher.audit.usage.savings.offers import Offers
from usher.audit.usage.series import Grid
from usher.config.audit_settings import Audit

_KINDS = (idle.find, mig_profiles.find, spot.find, nights.find)

_Taken = Counter[tuple[str, str]]
"""Number of devices that larger savings take, by node and resource."""


def savings(estate: Estate, entries: Mapping[int, Sequence[Entry]], *, config: Audit, grid: Grid) -> tuple[Saving, ...]:
    """All savings. Each free device counts for one saving, so that the savings in the sum can be made together.

    Args:
        estate: the nodes and workloads.
        entries: the measured entries, by the place of the workload in the estate.
        config: the section `audit` of usher.yaml.
        grid: the window.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    offered = offers.of_estate(estate)
    cases = (
        Case(
            workload=workload,
            entries=tuple(entries[index]),
            tally=tallies.total(entry.tally for entry in entries[index]),
            nodes=nodes,
            offers=offered,
            config=config,
            grid=grid,
        )
        for index, workload in enumerate(estate.workloads)
        if index in entries
    )
    by_case = [sorted(_candidates(case), key=lambda each: _size(each.saving)) for case in cases]
    taken: _Taken = Counter()
    result = [
        each for candidates in sorted(filter(None, by_case), key=_order) for each in _of_one(candidates, taken, offered)
    ]
    return tuple(sorted(result, key=lambda each: (*_size(each), each.subject.namespace, each.subject.name, each.kind)))


def _candidates(case: Case) -> list[Candidate]:
    return [found for found in (find(case) for find in _KINDS) if found is not None]


def _of_one(candidates: list[Candidate], taken: _Taken, offered: Offers) -> Iterator[Saving]:
    chosen = False
    for each in candidates:
        if chosen or each.saving.needs:
            yield each.saving.model_copy(update={"adds_up": False})
            continue
        short = _short(each, taken, offered)
        if short:
            yield each.saving.model_copy(update={"needs": short, "adds_up": False})
            continue
        _take(each, taken)
        chosen = True
        yield each.saving


def _short(candidate: Candidate, taken: _Taken, offered: Offers) -> str:
    """The sentence about missing devices for a saving; empty if enough are free."""
    left = sum(offer.free - taken[offer.node.name, offer.resource] for offer in candidate.takes)
    if left >= candidate.number:
        return ""
    resource = candidate.takes[0].resource
    if not offered.free_known:
        return f"It takes {candidate.number} {resource}; an audit of all pods of the cluster says whether they are free"
    return (
        f"The platform team makes more {resource} available: it takes {candidate.number}, and {left} are left now, "
        "without those that larger savings take"
    )


def _take(candidate: Candidate, taken: _Taken) -> None:
    missing = candidate.number
    for offer in candidate.takes:
        number = min(missing, offer.free - taken[offer.node.name, offer.resource])
        taken[offer.node.name, offer.resource] += number
        missing -= number


def _order(candidates: list[Candidate]) -> tuple[float, float, str, str]:
    largest = candidates[0].saving
    return (*_size(largest), largest.subject.namespace, largest.subject.name)


def _size(saving: Saving) -> tuple[float, float]:
    """A sort key, smaller for a larger saving: by money, else by GPU-hours."""
    return -(saving.cost or 0), -saving.gpu_hours
