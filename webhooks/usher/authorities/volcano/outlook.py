"""The Volcano section of `usher queue`: the queues of a workload."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from usher import model, quantities
from usher.authorities import amount_texts, gang_demand
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.limited_resource import LimitedResource
from usher.authorities.outlook import Balance, Elsewhere, Section
from usher.authorities.resource_lists import Amounts
from usher.authorities.verdict import Answer, Reach, Shortage, worst
from usher.authorities.volcano import judge, read
from usher.authorities.volcano.judge import QueueVerdict, Standing
from usher.authorities.volcano.named_queues import DEFAULT_QUEUE, Named
from usher.authorities.volcano.read import Placement, Queues
from usher.cluster.facts.store import Store

_AUTHORITY: Final = "Volcano"

_MOST: Final = 16
"""How many other queues are tried."""


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section for each queue of a workload; no section where Volcano does not place it."""
    workload = case.workload
    if workload.owner is not None:
        return
    placement, queues = read.placement(workload, known), read.queues(known.facts)
    never = _minimum_above_all_pods(workload, placement)
    for named in placement.queues:
        if queues is not None:
            verdict = judge.judge(
                workload, named.name, queues, minimum=placement.minimum, resources=placement.resources
            )
            section = _section(named, verdict, known.facts)
            if section.answer is not Answer.COULD:
                section = replace(section, elsewhere=tuple(_elsewhere(workload, queues, besides=named.name)))
            yield replace(section, answer=Answer.NEVER, reasons=(never, *section.reasons)) if never else section
        elif never:
            yield Section(authority=_AUTHORITY, way=(f"Queue {named.name}",), answer=Answer.NEVER, reasons=(never,))
        elif named.name != DEFAULT_QUEUE:
            reason = "the queues of Volcano are not known"
            yield Section(authority=_AUTHORITY, way=(f"Queue {named.name}",), answer=Answer.UNKNOWN, reasons=(reason,))


def _minimum_above_all_pods(workload: model.Workload, placement: Placement) -> str:
    """Why a gang that waits for more pods than it has never starts; empty for other gangs."""
    minimum, most = placement.minimum, workload.pods.maximum
    if minimum is None:
        minimum = gang_demand.minimum_of(workload)
    if minimum is None or most is None or minimum <= most:
        return ""
    return f"it waits for {minimum} pods, but there are never more than {most}"


def _section(named: Named, verdict: QueueVerdict, facts: Store) -> Section:
    allocated = read.allocated(named.name, facts)
    balances = [_balance(each, named.name, allocated) for each in verdict.limited if each.demand.all]
    waits = tuple(_waits(balances))
    above = dict.fromkeys(each.of for each in verdict.limited if each.of != named.name)
    return Section(
        authority=_AUTHORITY,
        way=(f"Queue {named.name}", *(f"Queue {name}" for name in above)),
        answer=worst([verdict.answer, Answer.NOT_NOW]) if waits else verdict.answer,
        reasons=tuple(_reasons(named, verdict)),
        balances=tuple(balances),
        waits=waits,
    )


def _reasons(named: Named, verdict: QueueVerdict) -> Iterator[str]:
    if verdict.standing is not Standing.USABLE:
        yield _standing(verdict)
    yield from (_shortage(each, verdict.queue) for each in verdict.shortages)
    yield from verdict.unknowns
    if named.assumption and (verdict.standing is not Standing.USABLE or verdict.shortages or verdict.unknowns):
        yield f"this holds if {named.assumption}"


def _standing(verdict: QueueVerdict) -> str:
    name = verdict.queue
    match verdict.standing:
        case Standing.MISSING:
            return f"there is no Queue {name}"
        case Standing.ROOT:
            return f"Queue {name} is the root queue, and takes no jobs"
        case Standing.NOT_LEAF:
            return f"Queue {name} has queues below it, and takes no jobs itself"
        case _:
            return f"Queue {name} is {verdict.state}, and takes jobs only while it is Open"


def _shortage(shortage: Shortage, queue: str) -> str:
    needs = amount_texts.named(shortage.resource, shortage.needs)
    most = amount_texts.text(shortage.resource, shortage.most, up=False)
    verb = "needed to start" if shortage.reach is Reach.START else "needed for all pods"
    condition = ", if the scheduler's plugin capacity uses parents" if shortage.of != queue else ""
    condition += f", if {shortage.assumption}" if shortage.assumption else ""
    return f"{needs} {verb}, {most} is the capability of Queue {shortage.of}{condition}"


def _balance(limited: LimitedResource, queue: str, allocated: Amounts | None) -> Balance:
    if allocated is not None and limited.of == queue:
        limited = replace(limited, used=allocated.get(limited.resource, quantities.ZERO))
    return limited.balance("Queue")


def _waits(balances: Iterable[Balance]) -> Iterator[str]:
    """The texts about amounts that must become free, for each resource that the queue could ever give."""
    for each in balances:
        if (
            each.used is not None
            and each.most is not None
            and each.free is not None
            and each.free < each.asks <= each.most
        ):
            yield amount_texts.waiting(each.resource, of=each.of, used=each.used, most=each.most, needs=each.asks)


def _elsewhere(workload: model.Workload, queues: Queues, *, besides: str) -> Iterator[Elsewhere]:
    for name in islice(sorted(queues.by_name), _MOST):
        found = judge.judge(workload, name, queues)
        if name != besides and found.standing is Standing.USABLE and not found.shortages and not found.unreadable:
            yield Elsewhere(queue=name, answer=Answer.COULD)
