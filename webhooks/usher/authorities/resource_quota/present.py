"""The data about ResourceQuotas and LimitRanges of a workload's namespace for Rego and `usher queue`."""

from collections.abc import Iterator
from typing import Final, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths, quantities
from usher.authorities import limit_range, pod_groups
from usher.authorities.authority import Case, Section
from usher.authorities.gpu_quota import present as gpu_quota_present
from usher.authorities.knowledge import Knowledge
from usher.authorities.limit_range import LimitViolationInput, violations_input
from usher.authorities.resource_quota import judge
from usher.authorities.resource_quota.judge import NamespaceLimits, QuotaVerdict, ResourceQuotas
from usher.authorities.verdict import (
    REACHES,
    Answer,
    PartInput,
    Reach,
    Shortage,
    UnreadableInput,
    parts_input,
    unreadable_input,
)
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.values import Absence, Reference


class QuotaShortageInput(TypedDict):
    """A quota key with too little room; `used` is present only where usage decides."""

    quota: str
    resource: str
    verdict: str
    needs: Amount
    hard: Amount
    path: str
    used: NotRequired[Amount]
    parts: NotRequired[list[PartInput]]
    assumption: NotRequired[str]


class UnstatedAmountInput(TypedDict):
    """An amount that a container must state because a quota counts it."""

    quota: str
    container: str
    path: str
    what: str


class UncountedInput(TypedDict):
    name: str
    path: str


class UnclearQuotaInput(TypedDict):
    quota: str
    path: str


class ResourceQuotasInput(TypedDict):
    """The verdict of quotas and ranges. Empty lists are absent."""

    shortages: NotRequired[list[QuotaShortageInput]]
    exists: NotRequired[bool]
    """Whether the object exists in the cluster already, so that usage may include its pods."""
    unsaid: NotRequired[list[UnstatedAmountInput]]
    defaultsKnown: NotRequired[bool]
    """With `unsaid`: whether the LimitRanges, which may set the amount, are known and readable."""
    refusals: NotRequired[list[LimitViolationInput]]
    uncounted: NotRequired[list[UncountedInput]]
    """Accelerators of the pods that neither a ResourceQuota nor a GPUQuota counts."""
    doubts: NotRequired[list[UnclearQuotaInput]]
    """Quotas that may count the pods at a place; usher cannot decide it."""
    critical: NotRequired[dict[str, str]]
    """Critical classes that no quota of the namespace allows on GKE, by the path of the pod set."""
    unreadable: NotRequired[list[UnreadableInput]]


_CRITICAL: Final = frozenset({"system-node-critical", "system-cluster-critical"})
_OF_GKE: Final = Reference(group="", kind="ResourceQuota", name="gcp-critical-pods", namespace="kube-system")
_GKE_NODE: Final = "cloud.google.com/gke-nodepool"
"""The quota that GKE makes, and a label of its nodes."""


def _refused_critical(workload: model.Workload, namespace: NamespaceLimits, known: Knowledge) -> dict[str, str]:
    """Critical classes that GKE admits only where a quota of the namespace names them (its LimitedResources)."""
    wanted = {each.path: each.priority_class_name for each in workload.pod_sets}
    wanted = {path: name for path, name in wanted.items() if name in _CRITICAL}
    quotas = namespace.quotas
    if not wanted or quotas is None or quotas.unreadable or workload.namespace == "kube-system":
        return {}
    allowed = {
        name for quota in quotas.all for scope in quota.scopes if scope.name == "PriorityClass" for name in scope.values
    }
    return {path: name for path, name in wanted.items() if name not in allowed} if _is_gke(known) else {}


def _is_gke(known: Knowledge) -> bool:
    return not isinstance(known.facts.find(_OF_GKE), Absence) or any(
        _GKE_NODE in each.labels for each in known.facts.nodes.now.classes
    )


class _Limits(Struct, frozen=True, kw_only=True):
    """The quotas and ranges that a slice depends on. Usage changes with every pod, without a new revision."""

    name: str
    """The name of the namespace."""
    namespace: NamespaceLimits
    needed: tuple[judge.Need, ...]
    """The needs that have room now."""

    def still_holds(self, known: Knowledge) -> bool:
        """Whether only usage has changed, and every need still has room."""
        now = judge.of_namespace(self.name, known)
        before, after = self.namespace.quotas, now.quotas
        if self.namespace.ranges is not now.ranges:
            return False
        if before is None or after is None or before is after:
            return before is after
        return (
            _without_usage(before) == _without_usage(after)
            and judge.suffice(before, self.needed)
            and judge.suffice(after, self.needed)
        )


def _without_usage(quotas: ResourceQuotas) -> ResourceQuotas:
    return replace(quotas, all=tuple(replace(quota, used=None) for quota in quotas.all), groups=())


def input_slice(case: Case, known: Knowledge) -> ResourceQuotasInput | None:
    """The obstacles for a workload; None without obstacles, or where the quotas of the namespace are unknown."""
    workload = case.workload
    if not workload.namespace:
        return None
    namespace = judge.of_namespace(workload.namespace, known)
    verdict = judge.judge(pod_groups.with_minimum_of_groups(case, known), namespace)
    needed = () if verdict is None else verdict.needed
    case.grounds.append(_Limits(name=workload.namespace, namespace=namespace, needed=needed))
    quotas = () if namespace.quotas is None else namespace.quotas.unreadable
    result: ResourceQuotasInput = paths.given(
        unreadable=unreadable_input((*quotas, *namespace.known_ranges.unreadable)),
        refusals=violations_input(limit_range.find_violations(workload, namespace.known_ranges)),
        critical=_refused_critical(workload, namespace, known),
    )
    if verdict is not None:
        _add_verdict(result, verdict, workload, namespace)
        _add_uncounted(result, verdict, workload, known)
    return result or None


def _add_verdict(
    result: ResourceQuotasInput, verdict: QuotaVerdict, workload: model.Workload, namespace: NamespaceLimits
) -> None:
    if verdict.shortages:
        result["shortages"] = [_shortage_input(each, workload) for each in verdict.shortages]
        if any(each.reach is Reach.NOW for each in verdict.shortages):
            result["exists"] = workload.exists
    if verdict.unstated:
        result["unsaid"] = [
            {"quota": each.quota, "container": each.container.name, "path": each.container.path, "what": each.what}
            for each in verdict.unstated
        ]
        result["defaultsKnown"] = namespace.defaults_known
    if verdict.unclear:
        result["doubts"] = [{"quota": each.quota, "path": each.pod_set.path} for each in verdict.unclear]


def _add_uncounted(
    result: ResourceQuotasInput, verdict: QuotaVerdict, workload: model.Workload, known: Knowledge
) -> None:
    """Adds accelerators that no quota counts; adds nothing where a quota is unreadable, because it may count them."""
    if verdict.unknowns:
        return
    uncounted = [
        name for name in verdict.uncounted if gpu_quota_present.limits_resource(workload, name, known) is False
    ]
    if uncounted:
        paths_of = {request.name: request.path for pod_set in workload.pod_sets for request in pod_set.requests}
        result["uncounted"] = [{"name": name, "path": paths_of[name]} for name in uncounted]


def _shortage_input(shortage: Shortage, workload: model.Workload) -> QuotaShortageInput:
    result: QuotaShortageInput = {
        "quota": shortage.of,
        "resource": shortage.resource,
        "verdict": REACHES[shortage.reach],
        "needs": amount_of(shortage.needs),
        "hard": amount_of(shortage.most),
        "path": next(_request_paths(shortage.resource, workload)),
    }
    used = None if shortage.used is None else amount_of(shortage.used)
    result.update(paths.given(used=used, parts=parts_input(shortage.parts), assumption=shortage.assumption))
    return result


def _request_paths(key: str, workload: model.Workload) -> Iterator[str]:
    """The path of the request that a key counts, or else the path of the pods."""
    for pod_set in workload.pod_sets:
        yield from (request.path for request in pod_set.requests if judge.quota_key(request) == key)
    yield paths.ROOT if key.startswith("count/") else workload.pod_sets[0].path


_AUTHORITY: Final = "ResourceQuota"

_NEEDED: Final = {
    Reach.START: "needed to start",
    Reach.NOW: "needed",
    Reach.ALL: "needed for all pods",
    Reach.LARGEST: "needed for as many pods as it may grow to",
}


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where a quota counts the pods."""
    namespace = judge.of_namespace(case.workload.namespace, known)
    verdict = judge.judge(pod_groups.with_minimum_of_groups(case, known), namespace)
    if verdict is None:
        yield Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=("the ResourceQuotas are not known",))
    elif verdict.limited or verdict.unstated or verdict.unclear or verdict.shortages or verdict.unknowns:
        yield Section(
            authority=_AUTHORITY,
            way=tuple(dict.fromkeys(f"ResourceQuota {each.of}" for each in verdict.limited)),
            answer=verdict.answer,
            reasons=tuple(dict.fromkeys(_reasons(verdict, namespace))),
            balances=tuple(each.balance("ResourceQuota") for each in verdict.limited),
            remedies=tuple(
                dict.fromkeys(f"set {each.what} in container {each.container.name}" for each in verdict.unstated)
            ),
            waits=tuple(_waits(verdict)),
        )


def _reasons(verdict: QuotaVerdict, namespace: NamespaceLimits) -> Iterator[str]:
    yield from map(_shortage_text, verdict.shortages)
    if any(each.used is None for each in verdict.limited):
        yield "current usage is not known"
    yield from verdict.unknowns
    for unclear in verdict.unclear:
        pods = f"the pods of {unclear.pod_set.name}" if unclear.pod_set.name else "the pods"
        yield f"usher does not know whether ResourceQuota {unclear.quota} counts {pods}"
    unless = ", unless a LimitRange sets it" if namespace.ranges is None else ""
    for unstated in verdict.unstated:
        container = unstated.container.name
        yield f"container {container} has no {unstated.what}; ResourceQuota {unstated.quota} requires it{unless}"


def _shortage_text(shortage: Shortage) -> str:
    resource = shortage.resource
    needs, most = quantities.named(resource, shortage.needs), quantities.text(resource, shortage.most, up=False)
    there = f"ResourceQuota {shortage.of} allows {most}"
    if shortage.used is not None:
        there += f" ({quantities.text(resource, shortage.used)} used)"
    condition = f", if {shortage.assumption}" if shortage.assumption else ""
    return f"{needs} {_NEEDED[shortage.reach]}, {there}{condition}"


def _waits(verdict: QuotaVerdict) -> Iterator[str]:
    for each in verdict.shortages:
        if each.used is not None:
            of = f"ResourceQuota {each.of}"
            yield quantities.waiting(each.resource, of=of, used=each.used, most=each.most, needs=each.needs)
