"""The GPUQuota section of `usher queue`: the charge of a workload, and the room that its quota has left."""

from collections.abc import Iterator
from typing import Final

from usher import quantities
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import amounts, assignment, judge, ledger, status
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import Charge
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.gpu_quota.judge import GpuQuotaVerdict
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.limits import Limit
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Balance, Section
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Absence

_AUTHORITY: Final = "GPUQuota"


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """At most one section; no section for a workload that does not ask for accelerators."""
    workload = case.workload
    if not workload.asks_accelerators:
        return
    quota = assignment.read(known, workload.namespace)
    if quota is None:
        if not known.facts.knows(GROUP, KIND):
            yield _unknown("the GPUQuotas are not known")
    elif isinstance(quota, Undecided):
        yield _unknown(quota.reason)
    else:
        account = _account(quota, known.facts)
        yield _section(quota, judge.judge(known, workload, quota, account), account)


def _unknown(reason: str) -> Section:
    return Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=(reason,))


def _account(quota: Quota, facts: Store) -> Ledger | None:
    """The current charges; None where the facts do not contain them, as for every quota of usher.yaml."""
    found = facts.objects(GROUP, KIND)
    value = None if quota.declared or isinstance(found, Absence) else found.get(quota.name)
    if value is None or "status" not in value:
        return None
    decoded = status.decode(value["status"])
    return decoded.ledger if decoded.writable and not decoded.problems else None


def _section(quota: Quota, verdict: GpuQuotaVerdict, account: Ledger | None) -> Section:
    return Section(
        authority=_AUTHORITY,
        way=(str(quota),),
        answer=verdict.answer,
        reasons=tuple(dict.fromkeys(_reasons(quota, verdict))),
        balances=tuple(_balances(quota, verdict.charge, account)),
        waits=tuple(
            f"wait: {amounts.number(each.used)} of {amounts.text(each.unit, each.hard)} of {_of(quota, each.limit)} "
            "are charged now"
            for each in verdict.not_now
        ),
    )


def _reasons(quota: Quota, verdict: GpuQuotaVerdict) -> Iterator[str]:
    taken = verdict.charge
    if taken.unbounded:
        yield f"usher charges its pods one by one, because its demand has no bound: {taken.unbounded}"
    yield from (each.reason for each in verdict.unclear)
    for each in verdict.never:
        hard = amounts.number(each.hard)
        yield f"{amounts.text(each.unit, each.asks)} would be charged, {_of(quota, each.limit)} has {hard}"
    if taken.suspended and not quota.charges_suspended:
        yield "it is suspended; usher charges it when it is resumed"
    for each in verdict.not_now:
        yield f"{amounts.text(each.unit, each.more)} would be charged, {amounts.number(each.free)} are left"
    if quota.declared:
        yield "the webhooks charge it in the cluster; the current charges are not known here"
    elif not verdict.ledger_known:
        yield "the current charges are not known"


def _balances(quota: Quota, taken: Charge, account: Ledger | None) -> Iterator[Balance]:
    used = None if account is None else ledger.used(account)
    for limit, unit, asks in judge.demands(quota, taken):
        charged = None if used is None else gpu_quota_charge.of_classes(used, limit.classes).get(unit, 0)
        yield Balance(
            of=_of(quota, limit),
            resource=unit,
            asks=quantities.Quantity(asks),
            most=quantities.Quantity(limit.hard[unit]),
            used=None if charged is None else quantities.Quantity(charged),
            free=None if charged is None else quantities.Quantity(max(limit.hard[unit] - charged, 0)),
        )


def _of(quota: Quota, limit: Limit) -> str:
    return f"{quota} for {', '.join(limit.classes)}" if limit.classes else str(quota)
