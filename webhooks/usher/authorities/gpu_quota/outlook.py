"""What the GPUQuota of its namespace would charge a workload, and what it has left."""

from collections.abc import Iterator
from typing import Final

from usher import model, quantities
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import amounts, assignment, ledger, status
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import Charge
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Ledger, Limit
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Balance, Section
from usher.authorities.verdict import Answer, worst
from usher.facts.store import Store
from usher.reading.lookup import Absence

_AUTHORITY: Final = "GPUQuota"


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where a quota holds for the namespace, or may hold, and the workload asks for accelerators."""
    workload, facts, config = case.workload, known.facts, known.config
    if not workload.asks_accelerators:
        return
    quota = assignment.of_namespace(workload.namespace, facts, config)
    if quota is None and facts.knows(GROUP, KIND):
        return
    if quota is None:
        yield Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=("nothing is known of GPUQuotas",))
    elif isinstance(quota, Undecided):
        yield Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=(quota.reason,))
    else:
        charge = gpu_quota_charge.charge(
            workload,
            pools=config.pools,
            vocabulary=known.vocabulary,
            assumption=quota.assumption,
            default_class=assignment.default_class(facts, config),
        )
        yield _section(workload, quota, charge, _ledger(quota, facts))


def _ledger(quota: Quota, facts: Store) -> Ledger | None:
    """What others have been charged; None where nobody keeps or knows it."""
    found = facts.objects(GROUP, KIND)
    value = None if quota.declared or isinstance(found, Absence) else found.get(quota.name)
    if value is None or "status" not in value:
        return None
    decoded = status.decode(value["status"])
    return decoded.ledger if decoded.writable and not decoded.problems else None


def _section(workload: model.Workload, quota: Quota, charge: Charge, known: Ledger | None) -> Section:
    answers, reasons, waits = [Answer.COULD if known is None else Answer.FITS], list[str](), list[str]()
    if charge.unbounded:
        answers.append(Answer.UNKNOWN)
        reasons.append(f"its pods are charged one by one, because nothing bounds what it asks for: {charge.unbounded}")
    for unclear in charge.unclear:
        if any(unclear.unit == unit or unit.startswith(unclear.unit) for limit in quota.limits for unit in limit.hard):
            answers.append(Answer.UNKNOWN)
            reasons.append(unclear.reason)
    for limit, unit, asks in _asked(quota, charge):
        if asks > limit.hard[unit]:
            answers.append(Answer.NEVER)
            reasons.append(f"{amounts.text(unit, asks)} would be charged, {_of(quota, limit)} has {_hard(limit, unit)}")
    if charge.suspended and not quota.charges_suspended:
        reasons.append("it is suspended, and is charged when it is resumed")
    elif known is not None and Answer.NEVER not in answers:
        for excess in _excesses(workload, quota, charge, known):
            answers.append(Answer.NOT_NOW)
            used, hard = amounts.number(excess.used), amounts.text(excess.unit, excess.hard)
            reasons.append(
                f"{amounts.text(excess.unit, excess.more)} would be charged, {amounts.number(excess.free)} are left"
            )
            waits.append(f"wait: {used} of {hard} of {_of(quota, excess.limit)} are charged now")
    if known is None:
        keeps = "usher.yaml keeps no account of it" if quota.declared else "what is charged now is not known"
        reasons.append(keeps)
    return Section(
        authority=_AUTHORITY,
        way=(str(quota),),
        answer=worst(answers),
        reasons=tuple(dict.fromkeys(reasons)),
        balances=tuple(_balances(quota, charge, known)),
        waits=tuple(waits),
    )


def _asked(quota: Quota, charge: Charge) -> Iterator[tuple[Limit, str, int]]:
    """What counts towards each unit of each limit, where anything does."""
    for limit in quota.limits:
        asks = gpu_quota_charge.of_classes(charge.amounts, limit.classes)
        yield from ((limit, unit, asks[unit]) for unit in sorted(limit.hard) if asks.get(unit, 0))


def _balances(quota: Quota, charge: Charge, known: Ledger | None) -> Iterator[Balance]:
    used = None if known is None else ledger.used(known)
    for limit, unit, asks in _asked(quota, charge):
        taken = None if used is None else gpu_quota_charge.of_classes(used, limit.classes).get(unit, 0)
        yield Balance(
            of=_of(quota, limit),
            resource=unit,
            asks=quantities.Quantity(asks),
            most=quantities.Quantity(limit.hard[unit]),
            used=None if taken is None else quantities.Quantity(taken),
            free=None if taken is None else quantities.Quantity(max(limit.hard[unit] - taken, 0)),
        )


def _excesses(workload: model.Workload, quota: Quota, charge: Charge, known: Ledger) -> tuple[ledger.Excess, ...]:
    entry = Entry(
        group=workload.group,
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        amounts=charge.amounts,
        reserved_until=None,
    )
    found = ledger.charge(known, entry, quota.limits)
    return found.excesses if isinstance(found, ledger.Refused) else ()


def _of(quota: Quota, limit: Limit) -> str:
    return f"{quota} for {', '.join(limit.classes)}" if limit.classes else str(quota)


def _hard(limit: Limit, unit: str) -> str:
    return amounts.number(limit.hard[unit])
