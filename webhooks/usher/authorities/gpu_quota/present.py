"""The charge of a workload and the room of its GPUQuota, with the verdict on it: for Rego and `usher queue`.

The room that is left is part of the slice only after a refused charge; otherwise the slice is stable.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths, quantities
from usher.authorities.authority import Balance, Case, Section
from usher.authorities.gpu_quota import assignment, definitions, ledger
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.assignment import Labels, Undecided
from usher.authorities.gpu_quota.charge import Charge, Unclear
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Limit, Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Excess, Ledger
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer, worst
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.reading.values import Absence


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
            yield Excess(limit=limit, unit=unit, asks=asks, held=0, added=asks, used=0, hard=limit.hard[unit])


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
    return not unclear or (
        unit.startswith(definitions.PROFILES) if unclear == definitions.PROFILES else unit == unclear
    )


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


def input_slice(case: Case, known: Knowledge) -> GpuQuota | None:
    """The verdict of the quota; None where no quota holds, or the quota has room."""
    workload, refusal = case.workload, case.refusal
    if workload.is_template or not any(each.requests or each.unclear_devices for each in workload.pod_sets):
        return None
    quota = refusal.quota if refusal is not None else assignment.quota_of_namespace(known, workload.namespace)
    if quota is None:
        return None
    if isinstance(quota, Undecided):
        return {"name": "", "excesses": [], "unclear": [], "undecided": quota.reason}
    verdict = judge(known, workload, quota)
    excesses = verdict.never if refusal is None else refusal.excesses
    result: GpuQuota = {
        "name": str(quota),
        "excesses": [_excess_input(each, tried=refusal is not None) for each in excesses],
        "unclear": list(_unclear_inputs(verdict.unclear)),
    }
    if verdict.charge.unbounded:
        result["unbounded"] = verdict.charge.unbounded
    return result if result["excesses"] or result["unclear"] or verdict.charge.unbounded else None


def limits_resource(workload: model.Workload, name: str, known: Knowledge) -> bool | None:
    """Whether a quota limits a resource or device class for all workloads of a namespace together.

    Returns:
        None where usher cannot decide which quota holds.
    """
    quota = assignment.quota_of_namespace(known, workload.namespace)
    if quota is None or isinstance(quota, Undecided):
        return None if quota is not None else False
    taken = charge(known, _one_pod_each(workload, name), quota)
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


def _excess_input(excess: Excess, *, tried: bool) -> QuotaExcess:
    result: QuotaExcess = {
        "asks": definitions.text(excess.unit, excess.asks),
        "hard": definitions.number(excess.hard),
        "classes": list(excess.limit.classes),
        "never": excess.never,
    }
    if tried:
        result["free"], result["used"] = definitions.number(excess.free), definitions.number(excess.used)
        if excess.ending:
            result["ending"] = definitions.text(excess.unit, excess.ending)
        elif excess.held:
            result["more"] = definitions.number(excess.added)
    return result


def _unclear_inputs(unclear: tuple[Unclear, ...]) -> Iterator[UnclearAmount]:
    for path, reason in dict.fromkeys((each.path, each.reason) for each in unclear):
        yield {"path": path, "reason": reason}


_ANY_LIMITS: Final[paths.Json] = [{"hard": {"gpus": 0}}]
"""Replaces unreadable limits: the namespaces of a quota do not depend on its limits."""

_PLACE: Final = "/spec/namespace"
"""The start of the paths of fields that select namespaces. A view leaves out fields of a wrong type."""

_MOST: Final = 5
"""How many namespaces and quotas are named."""


class Rival(TypedDict):
    """Another quota that holds for some of the namespaces. Only one quota may hold for a namespace."""

    name: str
    """The kind and name of the quota: `GPUQuota research`."""
    namespaces: list[str]
    """Some of the shared namespaces, in order."""


class QuotaObject(TypedDict):
    """The namespaces of a GPUQuota. Unknown fields are absent."""

    holds: NotRequired[bool]
    """Whether it holds for any existing namespace."""
    rivals: NotRequired[list[Rival]]


def quota_object_slice(case: Case, known: Knowledge) -> QuotaObject | None:
    """The namespaces of a GPUQuota; None for other objects and for an unreadable GPUQuota."""
    workload = case.workload
    if (workload.group, workload.kind) != (GROUP, KIND):
        return None
    quota = _quota_of_object(workload)
    if quota is None:
        return None
    labels = assignment.labels_of_namespaces(known.facts)
    if labels is None:
        return {}
    held = [name for name in sorted(labels) if assignment.holds(quota, name, labels[name])]
    result: QuotaObject = {"holds": bool(held)}
    if known.facts.knows(GROUP, KIND):
        result["rivals"] = list(_rivals(quota, held, labels, known))[:_MOST]
    return result


def _quota_of_object(workload: model.Workload) -> Quota | None:
    if any(unknown.path.startswith(_PLACE) for unknown in workload.unknowns):
        return None
    spec = workload.view.get(registry.BY_KEY[GROUP, KIND].key, {}).get("spec", {})
    chosen = {key: spec[key] for key in ("namespaces", "namespaceSelector") if key in spec}
    found = definitions.of_object({"metadata": {"name": workload.name}, "spec": {**chosen, "limits": _ANY_LIMITS}})
    return found if isinstance(found, Quota) else None


def _rivals(quota: Quota, held: list[str], labels: Mapping[str, Labels | None], known: Knowledge) -> Iterator[Rival]:
    for other in assignment.all_quotas(known):
        if isinstance(other, Quota) and str(other) != str(quota):
            shared = [name for name in held if assignment.holds(other, name, labels[name])]
            if shared:
                yield {"name": str(other), "namespaces": shared[:_MOST]}


_AUTHORITY: Final = "GPUQuota"


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """At most one section; no section for a workload that does not ask for accelerators."""
    workload = case.workload
    if not workload.asks_accelerators:
        return
    quota = assignment.quota_of_namespace(known, workload.namespace)
    if quota is None:
        if not known.facts.knows(GROUP, KIND):
            yield _unknown_section("the GPUQuotas are not known")
    elif isinstance(quota, Undecided):
        yield _unknown_section(quota.reason)
    else:
        account = _account(quota, known.facts)
        yield _section(quota, judge(known, workload, quota, account), account)


def _unknown_section(reason: str) -> Section:
    return Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=(reason,))


def _account(quota: Quota, facts: Store) -> Ledger | None:
    """The current charges; None where the facts do not contain them, as for every quota of usher.yaml, and while usher
    counts them.
    """
    found = facts.objects(GROUP, KIND)
    value = None if quota.declared or isinstance(found, Absence) else found.get(quota.name)
    if value is None or "status" not in value:
        return None
    decoded = gpu_quota_status.decode(value["status"])
    return decoded.ledger if decoded.writable and not decoded.problems and not decoded.counting else None


def _section(quota: Quota, verdict: GpuQuotaVerdict, account: Ledger | None) -> Section:
    return Section(
        authority=_AUTHORITY,
        way=(str(quota),),
        answer=verdict.answer,
        reasons=tuple(dict.fromkeys(_reasons(quota, verdict))),
        balances=tuple(_balances(quota, verdict.charge, account)),
        waits=tuple(
            f"wait: {definitions.number(each.used)} of {definitions.text(each.unit, each.hard)} of "
            f"{_limit_text(quota, each.limit)} "
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
        hard = definitions.number(each.hard)
        yield f"{definitions.text(each.unit, each.asks)} would be charged, {_limit_text(quota, each.limit)} has {hard}"
    if taken.suspended and not quota.charges_suspended:
        yield "it is suspended; usher charges it when it is resumed"
    for each in verdict.not_now:
        yield f"{definitions.text(each.unit, each.added)} would be charged, {definitions.number(each.free)} are left"
    if quota.declared:
        yield "the webhooks charge it in the cluster; the current charges are not known here"
    elif not verdict.ledger_known:
        yield "the current charges are not known"


def _balances(quota: Quota, taken: Charge, account: Ledger | None) -> Iterator[Balance]:
    used = None if account is None else ledger.used(account)
    for limit, unit, asks in demands(quota, taken):
        charged = None if used is None else gpu_quota_charge.amounts_of_classes(used, limit.classes).get(unit, 0)
        yield Balance(
            of=_limit_text(quota, limit),
            resource=unit,
            asks=quantities.Quantity(asks),
            most=quantities.Quantity(limit.hard[unit]),
            used=None if charged is None else quantities.Quantity(charged),
            free=None if charged is None else quantities.Quantity(max(limit.hard[unit] - charged, 0)),
        )


def _limit_text(quota: Quota, limit: Limit) -> str:
    return f"{quota} for {', '.join(limit.classes)}" if limit.classes else str(quota)
