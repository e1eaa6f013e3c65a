"""The queues of Volcano into which a workload goes, and what bounds it there."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from usher import model, quantities
from usher.authorities import amount_texts, resource_lists
from usher.authorities.outlook import Balance, Elsewhere, Section
from usher.authorities.resource_lists import Amounts
from usher.authorities.verdict import Answer, worst
from usher.authorities.volcano import judge, named_queues
from usher.authorities.volcano import slice as volcano_slice
from usher.authorities.volcano.judge import Standing, Verdict
from usher.config import models
from usher.facts.store import Store
from usher.reading.lookup import Absence, Reference

_MOST: Final = 16
"""Other queues that are looked at."""


def of(workload: model.Workload, facts: Store, config: models.Config) -> Iterator[Section]:
    """What each queue of a workload says; nothing where Volcano does not place it.

    Args:
        workload: the object.
        facts: what is known.
        config: usher.yaml.
    """
    if workload.owner is not None:
        return
    known = volcano_slice.queues_of(facts)
    for named, found in volcano_slice.assessed(workload, facts, config):
        if found is None or known is None:
            if named.name != named_queues.DEFAULT_QUEUE:
                reason = "nothing is known of Volcano's queues"
                yield Section(
                    authority="Volcano", way=(f"Queue {named.name}",), answer=Answer.UNKNOWN, reasons=(reason,)
                )
            continue
        section = _section(named, found, facts)
        if section.answer is not Answer.COULD:
            section = replace(section, elsewhere=tuple(_elsewhere(workload, known, besides=named.name)))
        yield section


def _section(named: named_queues.Named, found: judge.Assessment, facts: Store) -> Section:
    answers, reasons = [Answer.COULD], list[str]()
    if found.standing is not Standing.USABLE:
        answers.append(Answer.NEVER if found.standing is Standing.ROOT else Answer.NOT_NOW)
        reasons.append(_standing(named.name, found))
    for each in found.shortages:
        answers.append(_answer(each))
        reasons.append(_short(each))
    for unreadable in found.unreadable:
        answers.append(Answer.UNKNOWN)
        reasons.append(f"{unreadable.of}: {unreadable.field}: {unreadable.reason}")
    if named.assumption and reasons:
        reasons.append(f"that is so if {named.assumption}")
    allocated = _allocated(named.name, facts)
    balances = [_balance(each, None if each.is_above else allocated) for each in found.balances if each.together.all]
    waits = tuple(_waits(balances))
    if waits:
        answers.append(Answer.NOT_NOW)
    above = dict.fromkeys(each.queue for each in found.balances if each.is_above)
    return Section(
        authority="Volcano",
        way=(f"Queue {named.name}", *(f"Queue {name}" for name in above)),
        answer=worst(answers),
        reasons=tuple(reasons),
        balances=tuple(balances),
        waits=waits,
    )


def _answer(shortage: judge.Shortage) -> Answer:
    if shortage.verdict is Verdict.NOT_ALL:
        return Answer.COULD
    # Whether the scheduler knows of parents is nowhere among the facts.
    return Answer.UNKNOWN if shortage.is_above or shortage.assumption else Answer.NEVER


def _standing(name: str, found: judge.Assessment) -> str:
    match found.standing:
        case Standing.MISSING:
            return f"there is no Queue {name}"
        case Standing.ROOT:
            return f"Queue {name} is the root queue, which takes no jobs"
        case Standing.NOT_LEAF:
            return f"Queue {name} has queues below it, and takes no jobs itself"
        case _:
            return f"Queue {name} is {found.state}, and takes jobs only while it is Open"


def _short(shortage: judge.Shortage) -> str:
    needs = amount_texts.named(shortage.resource, shortage.needs)
    most = amount_texts.text(shortage.resource, shortage.capability, up=False)
    verb = "needed to start" if shortage.verdict is Verdict.NEVER else "needed for all pods"
    doubt = ", if the scheduler's plugin capacity knows of parents" if shortage.is_above else ""
    doubt += f", if {shortage.assumption}" if shortage.assumption else ""
    return f"{needs} {verb}, {most} is the capability of Queue {shortage.queue}{doubt}"


def _allocated(queue: str, facts: Store) -> Amounts | None:
    """What the pods in a queue have; None where its status says nothing of that.

    Asked of the object each time: what is worked out of queues and kept knows nothing of what changes all the time.
    """
    group, kind = volcano_slice.QUEUE
    found = facts.find(Reference(group=group, kind=kind, name=queue))
    if isinstance(found, Absence):
        return None
    source = resource_lists.Source(of=f"Queue {queue}", value=found)
    allocated = source.amounts("/status/allocated")
    return None if source.unreadable or source.at("/status/allocated") is None else allocated


def _balance(balance: judge.Balance, allocated: Amounts | None) -> Balance:
    used = None if allocated is None else allocated.get(balance.resource, quantities.Quantity(0))
    return Balance(
        of=f"Queue {balance.queue}",
        resource=balance.resource,
        asks=balance.together.starts if balance.together.is_gang else balance.together.all,
        most=balance.capability,
        used=used,
        free=amount_texts.left(balance.capability, used),
    )


def _waits(balances: Iterable[Balance]) -> Iterator[str]:
    """What has to become free; nothing of what never will."""
    for each in balances:
        if (
            each.used is not None
            and each.most is not None
            and each.free is not None
            and each.free < each.asks <= each.most
        ):
            yield amount_texts.waiting(each.resource, of=each.of, used=each.used, most=each.most, needs=each.asks)


def _elsewhere(workload: model.Workload, known: judge.Queues, *, besides: str) -> Iterator[Elsewhere]:
    for name in islice(sorted(known.by_name), _MOST):
        found = judge.assess(workload, name, known)
        if name != besides and found.standing is Standing.USABLE and not found.shortages and not found.unreadable:
            yield Elsewhere(queue=name, answer=Answer.COULD)
