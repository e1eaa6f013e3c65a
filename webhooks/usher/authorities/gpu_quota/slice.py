"""The GPUQuota part of the Rego input: the demands that a quota can never give, or cannot give now.

The room that is left is part of the slice only after a refused charge; otherwise the slice is stable.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import amounts, assignment, judge
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import Unclear
from usher.authorities.gpu_quota.ledger import Excess
from usher.authorities.knowledge import Knowledge

CHECKS_OF_REFUSALS: Final = frozenset({"tenancy/gpu_quota_exceeded"})
"""The keys of checks whose findings depend on a refused charge."""


class QuotaExcess(TypedDict):
    """A unit of a limit with too high a demand."""

    asks: str
    """The demand with its unit: `16 GPUs`."""
    hard: str
    """The limit as a number, like all amounts below without a unit."""
    classes: list[str]
    """The priority classes of the limit; empty where it holds for all pods."""
    never: bool
    """Whether the demand exceeds the limit even if nothing else is charged."""
    free: NotRequired[str]
    """The room that is left; absent where no charge was tried."""
    used: NotRequired[str]
    more: NotRequired[str]
    """The additional charge; absent where the workload has no charge yet."""
    ending: NotRequired[str]
    """With the unit: the amount that pods of a deleted object of the same name still hold."""


class UnclearAmount(TypedDict):
    """An unknown amount of the workload that a limit counts."""

    path: str
    reason: str


class GpuQuota(TypedDict):
    name: str
    """The kind and name of the quota: `GPUQuota research`; empty where usher cannot decide which quota holds."""
    excesses: list[QuotaExcess]
    unclear: list[UnclearAmount]
    unbounded: NotRequired[str]
    """Why the demand of the workload has no bound."""
    undecided: NotRequired[str]
    """Why usher cannot decide which quota holds."""


def of(case: Case, known: Knowledge) -> GpuQuota | None:
    """The verdict of the quota; None where no quota holds, or the quota has room."""
    workload, refusal = case.workload, case.refusal
    if workload.is_template or not any(each.requests or each.unclear_devices for each in workload.pod_sets):
        return None
    quota = refusal.quota if refusal is not None else assignment.read(known, workload.namespace)
    if quota is None:
        return None
    if isinstance(quota, Undecided):
        return {"name": "", "excesses": [], "unclear": [], "undecided": quota.reason}
    verdict = judge.judge(known, workload, quota)
    excesses = verdict.never if refusal is None else refusal.excesses
    result: GpuQuota = {
        "name": str(quota),
        "excesses": [_excess(each, tried=refusal is not None) for each in excesses],
        "unclear": list(_unclear(verdict.unclear)),
    }
    if verdict.charge.unbounded:
        result["unbounded"] = verdict.charge.unbounded
    return result if result["excesses"] or result["unclear"] or verdict.charge.unbounded else None


def counts(workload: model.Workload, name: str, known: Knowledge) -> bool | None:
    """Whether a quota limits a resource or device class for all workloads of a namespace together.

    Returns:
        None where usher cannot decide which quota holds.
    """
    quota = assignment.read(known, workload.namespace)
    if quota is None or isinstance(quota, Undecided):
        return None if quota is not None else False
    taken = judge.charge(known, _one_pod_each(workload, name), quota)
    return all(
        any(
            limit.hard.keys() & units.keys() and (not limit.classes or set(classes) <= set(limit.classes))
            for limit in quota.limits
        )
        for classes, units in taken.amounts.items()
    )


def _one_pod_each(workload: model.Workload, name: str) -> model.Workload:
    """The workload with only the requests of one name, and one pod of each pod set."""
    one = model.Count(minimum=1, maximum=1)
    pod_sets = (
        replace(pod_set, count=one, requests=tuple(each for each in pod_set.requests if each.name == name))
        for pod_set in workload.pod_sets
    )
    return replace(workload, pod_sets=tuple(pod_sets))


def _excess(excess: Excess, *, tried: bool) -> QuotaExcess:
    result: QuotaExcess = {
        "asks": amounts.text(excess.unit, excess.asks),
        "hard": amounts.number(excess.hard),
        "classes": list(excess.limit.classes),
        "never": excess.never,
    }
    if tried:
        result["free"], result["used"] = amounts.number(excess.free), amounts.number(excess.used)
        if excess.ending:
            result["ending"] = amounts.text(excess.unit, excess.ending)
        elif excess.held:
            result["more"] = amounts.number(excess.more)
    return result


def _unclear(unclear: tuple[Unclear, ...]) -> Iterator[UnclearAmount]:
    for path, reason in dict.fromkeys((each.path, each.reason) for each in unclear):
        yield {"path": path, "reason": reason}
