"""What the GPUQuota of its namespace says of a workload: more than it can ever give, or has left at the moment.

What is left is part of it only where a charge has been tried and refused, so that a slice is stable otherwise.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import amounts, assignment
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import Charge
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess, Limit
from usher.authorities.knowledge import Knowledge
from usher.config import models
from usher.facts.store import Store

CHECKS_OF_REFUSALS: Final = frozenset({"tenancy/gpu_quota_exceeded"})
"""Keys of the checks that tell of a charge that was refused."""


class QuotaExcess(TypedDict):
    """A unit of a limit in which the workload asks for too much."""

    asks: str
    """With the unit: `16 GPUs`."""
    hard: str
    """A number, as all below."""
    classes: list[str]
    """Of priority, to which the limit is restricted; empty where it holds for all."""
    never: bool
    """Whether the quota could not give it if nobody else had anything."""
    free: NotRequired[str]
    """Missing where nobody has asked the quota what is left."""
    used: NotRequired[str]
    more: NotRequired[str]
    """What it would take beyond what it has, where it has something."""
    ending: NotRequired[str]
    """With the unit: what pods of a deleted object of the same name hold still, where they do."""


class UnclearAmount(TypedDict):
    """What a limit looks at and nobody knows of the workload."""

    path: str
    reason: str


class GpuQuota(TypedDict):
    name: str
    """As people say it: `GPUQuota research`; empty where nobody can say which holds."""
    declared: bool
    """Whether usher.yaml declares it, which keeps no account."""
    excesses: list[QuotaExcess]
    unclear: list[UnclearAmount]
    unbounded: NotRequired[str]
    """Why nothing bounds what the workload asks for."""
    undecided: NotRequired[str]
    """Why nobody can say which quota holds."""


def of(case: Case, known: Knowledge) -> GpuQuota | None:
    """What the quota says; None where there is none, and where it says nothing against the workload."""
    workload, refusal = case.workload, case.refusal
    facts, config, vocabulary = known.facts, known.config, known.vocabulary
    if not workload.asks_accelerators or workload.is_template:
        return None
    quota = refusal.quota if refusal is not None else assignment.of_namespace(workload.namespace, facts, config)
    if quota is None:
        return None
    if isinstance(quota, Undecided):
        return {"name": "", "declared": False, "excesses": [], "unclear": [], "undecided": quota.reason}
    charge = gpu_quota_charge.charge(
        workload,
        pools=config.pools,
        vocabulary=vocabulary,
        assumption=quota.assumption,
        default_class=assignment.default_class(facts, config),
    )
    result: GpuQuota = {
        "name": str(quota),
        "declared": quota.declared,
        "excesses": list(_never(charge, quota)) if refusal is None else [_refused(each) for each in refusal.excesses],
        "unclear": list(_unclear(charge, quota)),
    }
    if charge.unbounded:
        result["unbounded"] = charge.unbounded
    return result if result["excesses"] or result["unclear"] or charge.unbounded else None


def counts(
    workload: model.Workload, name: str, facts: Store, config: models.Config, vocabulary: Vocabulary
) -> bool | None:
    """Whether a GPUQuota bounds what all workloads of a namespace have under the name of a resource or device class.

    Returns:
        None where nobody can say which quota holds. A quota of usher.yaml bounds each workload alone, and so none of
        them together.
    """
    quota = assignment.of_namespace(workload.namespace, facts, config)
    if quota is None or isinstance(quota, Undecided):
        return None if quota is not None else False
    if quota.declared:
        return False
    charge = gpu_quota_charge.charge(
        _one_pod_each(workload, name),
        pools=config.pools,
        vocabulary=vocabulary,
        assumption=quota.assumption,
        default_class=assignment.default_class(facts, config),
    )
    return all(
        any(
            limit.hard.keys() & taken.keys() and (not limit.classes or set(classes) <= set(limit.classes))
            for limit in quota.limits
        )
        for classes, taken in charge.amounts.items()
    )


def _one_pod_each(workload: model.Workload, name: str) -> model.Workload:
    """The workload with what its pods ask for under one name, and one pod of each pod set."""
    one = model.Count(minimum=1, maximum=1)
    pod_sets = (
        replace(pod_set, count=one, requests=tuple(each for each in pod_set.requests if each.name == name))
        for pod_set in workload.pod_sets
    )
    return replace(workload, pod_sets=tuple(pod_sets))


def _never(charge: Charge, quota: Quota) -> Iterator[QuotaExcess]:
    for limit in quota.limits:
        asks = gpu_quota_charge.of_classes(charge.amounts, limit.classes)
        for unit, hard in sorted(limit.hard.items()):
            if asks.get(unit, 0) > hard:
                yield _excess(unit, asks[unit], limit, never=True)


def _refused(excess: Excess) -> QuotaExcess:
    result = _excess(excess.unit, excess.asks, excess.limit, never=excess.never)
    result["free"], result["used"] = amounts.number(excess.free), amounts.number(excess.used)
    if excess.ending:
        result["ending"] = amounts.text(excess.unit, excess.ending)
    elif excess.held:
        result["more"] = amounts.number(excess.more)
    return result


def _excess(unit: str, asks: int, limit: Limit, *, never: bool) -> QuotaExcess:
    return {
        "asks": amounts.text(unit, asks),
        "hard": amounts.number(limit.hard[unit]),
        "classes": list(limit.classes),
        "never": never,
    }


def _unclear(charge: Charge, quota: Quota) -> Iterator[UnclearAmount]:
    told = set()
    for each in charge.unclear:
        looked_at = any(
            _is_of(each.unit, unit) and (not limit.classes or not set(each.classes).isdisjoint(limit.classes))
            for limit in quota.limits
            for unit in limit.hard
        )
        if looked_at and (each.path, each.reason) not in told:
            told.add((each.path, each.reason))
            yield {"path": each.path, "reason": each.reason}


def _is_of(unclear: str, unit: str) -> bool:
    return unit.startswith(amounts.PROFILES) if unclear == amounts.PROFILES else unit == unclear
