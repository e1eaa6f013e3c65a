"""Judges whether a GPUQuota could ever give the charge of a workload, and whether it can now."""

from collections.abc import Iterator

from msgspec import Struct

from usher import model
from usher.authorities.gpu_quota import amounts, assignment, ledger
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota.amounts import Limit
from usher.authorities.gpu_quota.charge import Charge, Unclear
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Excess, Ledger
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer, worst


class GpuQuotaVerdict(Struct, frozen=True, kw_only=True):
    """The verdict of one quota on one workload."""

    charge: Charge
    never: tuple[Excess, ...] = ()
    """Demands that exceed the quota even if nothing else is charged."""
    not_now: tuple[Excess, ...] = ()
    """Demands that exceed the room that is left now; empty where the ledger is unknown."""
    unclear: tuple[Unclear, ...] = ()
    """Unknown amounts that a limit counts."""
    ledger_known: bool

    @property
    def answer(self) -> Answer:
        answers = [Answer.FITS if self.ledger_known else Answer.COULD]
        if self.never:
            answers.append(Answer.NEVER)
        if self.not_now:
            answers.append(Answer.NOT_NOW)
        if self.unclear or self.charge.unbounded:
            answers.append(Answer.UNKNOWN)
        return worst(answers)


def charge(known: Knowledge, workload: model.Workload, quota: Quota) -> Charge:
    """The charge of a workload, even if the quota does not charge it now."""
    return gpu_quota_charge.charge(
        workload,
        pools=known.config.pools,
        vocabulary=known.vocabulary_of_cluster,
        assumption=quota.assumption,
        limits=quota.limits,
        default_class=assignment.default_class(known),
    )


def judge(known: Knowledge, workload: model.Workload, quota: Quota, account: Ledger | None = None) -> GpuQuotaVerdict:
    """The verdict of a quota on a workload, with reasons.

    Args:
        account: the current charges; None where they are unknown.
    """
    taken = charge(known, workload, quota)
    never = tuple(_never(quota, taken))
    waits = account is not None and not never and (quota.charges_suspended or not taken.suspended)
    return GpuQuotaVerdict(
        charge=taken,
        never=never,
        not_now=_not_now(workload, quota, taken, account) if waits and account is not None else (),
        unclear=tuple(each for each in taken.unclear if _is_limited(each, quota)),
        ledger_known=account is not None,
    )


def demands(quota: Quota, taken: Charge) -> Iterator[tuple[Limit, str, int]]:
    """The demand for each unit of each limit, in nanos, without units that the workload does not use."""
    for limit in quota.limits:
        asks = gpu_quota_charge.amounts_of_classes(taken.amounts, limit.classes)
        yield from ((limit, unit, asks[unit]) for unit in sorted(limit.hard) if asks.get(unit, 0))


def _never(quota: Quota, taken: Charge) -> Iterator[Excess]:
    for limit, unit, asks in demands(quota, taken):
        if asks > limit.hard[unit]:
            yield Excess(limit=limit, unit=unit, asks=asks, held=0, more=asks, used=0, hard=limit.hard[unit])


def _not_now(workload: model.Workload, quota: Quota, taken: Charge, account: Ledger) -> tuple[Excess, ...]:
    entry = Entry(
        group=workload.group,
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        amounts=taken.amounts,
        reserved_until=None,
    )
    found = ledger.charge(account, entry, quota.limits)
    return found.excesses if isinstance(found, ledger.Refused) else ()


def _is_limited(unclear: Unclear, quota: Quota) -> bool:
    """Whether a limit counts the unit for pods of these classes."""
    return any(
        _is_unit(unclear.unit, unit) and (not limit.classes or not set(unclear.classes).isdisjoint(limit.classes))
        for limit in quota.limits
        for unit in limit.hard
    )


def _is_unit(unclear: str, unit: str) -> bool:
    return not unclear or (unit.startswith(amounts.PROFILES) if unclear == amounts.PROFILES else unit == unclear)
