"""The ResourceQuotas and LimitRanges of a workload's namespace, as far as they stand in its way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import resource_lists, runtime_class, verdict
from usher.authorities.gpu_quota import slice as gpu_quota_slice
from usher.authorities.knowledge import Knowledge
from usher.authorities.limit_range import judge as limit_range_judge
from usher.authorities.priority import read as priority_read
from usher.authorities.resource_quota import counting, judge
from usher.config import models
from usher.facts.store import Objects, Store
from usher.kinds.registry import BY_GROUP_AND_KIND
from usher.reading.lookup import Absence
from usher.reading.shapes import Amount, amount_of

_QUOTA: Final = ("", "ResourceQuota")
_RANGE: Final = ("", "LimitRange")

_NO_QUOTAS: Final = judge.Quotas(all=(), unreadable=())


class Part(TypedDict):
    """Pods of one pod set, with what each of them takes."""

    podSet: str
    pods: int
    each: Amount


class Shortage(TypedDict):
    """A key of a quota that does not suffice; `used` is there only where it decides."""

    quota: str
    resource: str
    verdict: str
    needs: Amount
    hard: Amount
    path: str
    used: NotRequired[Amount]
    parts: NotRequired[list[Part]]
    assumption: NotRequired[str]


class Unsaid(TypedDict):
    """What a container does not say, and a quota wants to hear."""

    quota: str
    container: str
    path: str
    what: str


class Refusal(TypedDict):
    """A bound of a LimitRange that a container goes against, or the pod as a whole (`container` is absent)."""

    limitRange: str
    container: NotRequired[str]
    path: str
    rule: str
    resource: str
    bound: Amount
    said: str
    amount: NotRequired[Amount]
    """The request or the limit; absent where there is none."""
    request: NotRequired[Amount]
    """What the limit is compared with, where `said` is `ratio`."""


class Unreadable(TypedDict):
    of: str
    field: str
    reason: str


class Uncounted(TypedDict):
    name: str
    path: str


class Doubt(TypedDict):
    quota: str
    path: str


class ResourceQuotas(TypedDict):
    """Each list is absent where it would be empty."""

    shortages: NotRequired[list[Shortage]]
    exists: NotRequired[bool]
    """Whether the object is in the cluster already, so that its pods may be among what is used."""
    unsaid: NotRequired[list[Unsaid]]
    defaultsKnown: NotRequired[bool]
    """Beside `unsaid`: whether the LimitRanges are known and can be read, which may say it for the containers."""
    refusals: NotRequired[list[Refusal]]
    uncounted: NotRequired[list[Uncounted]]
    """Accelerators of the pods that neither a ResourceQuota nor a GPUQuota counts."""
    doubts: NotRequired[list[Doubt]]
    """Quotas of which it is not known whether they count the pods at a place."""
    unreadable: NotRequired[list[Unreadable]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The quotas and ranges of a namespace at one moment; None where nothing is known of any."""

    quotas: judge.Quotas | None
    ranges: limit_range_judge.LimitRanges | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What stands in a workload's way, and what that rests on."""

    slice: ResourceQuotas | None
    known: Known
    claims: tuple[judge.Claim, ...] = ()

    def still_holds(self, now: Known) -> bool:
        """Whether it would be the same by what is known now: with every pod that starts, more of a quota is used."""
        before, after = self.known.quotas, now.quotas
        if before is after and self.known.ranges is now.ranges:
            return True
        if before is None or after is None or self.known.ranges is not now.ranges:
            return False
        return (
            before.unreadable == after.unreadable
            and [replace(quota, used=None) for quota in before.all]
            == [replace(quota, used=None) for quota in after.all]
            and judge.suffice(before.all, self.claims)
            and judge.suffice(after.all, self.claims)
        )


def known(namespace: str, facts: Store) -> Known:
    """What is known of a namespace; the same value for as long as it does not change."""
    return Known(quotas=_quotas(facts, namespace), ranges=_ranges(facts, namespace))


def of(workload: model.Workload, facts: Store, config: models.Config, vocabulary: Vocabulary) -> ResourceQuotas | None:
    """What stands in a workload's way; None where nothing does, and where nothing is known of the namespace."""
    return answer(workload, facts, config, known(workload.namespace, facts), vocabulary).slice


def answer(
    workload: model.Workload, facts: Store, config: models.Config, found: Known, vocabulary: Vocabulary
) -> Answer:
    """As `of`, by what is known of the namespace."""
    if not workload.namespace:
        return Answer(slice=None, known=found)
    quotas, ranges = found.quotas, found.ranges
    result: ResourceQuotas = {}
    unreadable = [*(quotas.unreadable if quotas else ()), *(ranges.unreadable if ranges else ())]
    if unreadable:
        result["unreadable"] = [{"of": each.of, "field": each.field, "reason": each.reason} for each in unreadable]
    if ranges is not None:
        refusals = [_refusal(each) for each in _all_refusals(workload, ranges)]
        if refusals:
            result["refusals"] = refusals
    if quotas is None:
        return Answer(slice=result or None, known=found)
    assessment = _assessed(workload, quotas, ranges, facts, config)
    _add_quotas(result, workload, assessment, defaults_known=ranges is not None and not ranges.unreadable)
    # Where nobody can say which GPUQuota holds, or what a ResourceQuota says, that is told as unknown.
    gpu_known = Knowledge(facts=facts, config=config, vocabulary=vocabulary)
    uncounted = [
        name
        for name in assessment.uncounted
        if not quotas.unreadable and gpu_quota_slice.counts(workload, name, gpu_known) is False
    ]
    if uncounted:
        paths_of = {request.name: request.path for pod_set in workload.pod_sets for request in pod_set.requests}
        result["uncounted"] = [{"name": name, "path": paths_of[name]} for name in uncounted]
    return Answer(slice=result or None, known=found, claims=assessment.claims)


def assessed(workload: model.Workload, facts: Store, config: models.Config) -> judge.Assessment | None:
    """What the quotas of its namespace leave to a workload; None where nothing is known of them."""
    found = known(workload.namespace, facts)
    return None if found.quotas is None else _assessed(workload, found.quotas, found.ranges, facts, config)


def _assessed(
    workload: model.Workload,
    quotas: judge.Quotas,
    ranges: limit_range_judge.LimitRanges | None,
    facts: Store,
    config: models.Config,
) -> judge.Assessment:
    return judge.assess(
        runtime_class.with_overhead(workload, facts.objects("node.k8s.io", "RuntimeClass")),
        quotas.all,
        ranges or limit_range_judge.NONE,
        default_class=priority_read.default_name(facts, config.priorities.global_default),
        resource=_resource(workload),
    )


def unreadable(facts: Store, namespace: str) -> Iterator[resource_lists.Unreadable]:
    """What of the quotas of a namespace cannot be read."""
    quotas = _quotas(facts, namespace)
    yield from () if quotas is None else quotas.unreadable


def _add_quotas(
    result: ResourceQuotas,
    workload: model.Workload,
    found: judge.Assessment,
    *,
    defaults_known: bool,
) -> None:
    if found.shortages:
        result["shortages"] = [_shortage(each, workload) for each in found.shortages]
        if any(each.verdict is judge.Verdict.NOT_NOW for each in found.shortages):
            result["exists"] = workload.exists
    if found.unsaid:
        result["unsaid"] = [
            {"quota": each.quota, "container": each.container.name, "path": each.container.path, "what": each.what}
            for each in found.unsaid
        ]
        result["defaultsKnown"] = defaults_known
    if found.doubts:
        places = {pod_set.name: pod_set.path for pod_set in workload.pod_sets}
        result["doubts"] = [{"quota": doubt.quota, "path": places[doubt.pod_set]} for doubt in found.doubts]


def _quotas(facts: Store, namespace: str) -> judge.Quotas | None:
    objects = facts.objects(*_QUOTA, namespace)
    if isinstance(objects, Absence):
        return None
    # What is used changes without a new revision, and the objects of a namespace are replaced with every change.
    read: dict[str, tuple[Objects, judge.Quotas]] = facts.derived("resource quotas", [_QUOTA], dict)
    last = read.get(namespace)
    if last is not None and last[0] is objects:
        return last[1]
    found = judge.read(objects)
    if objects:
        read[namespace] = objects, found
    return found if objects else _NO_QUOTAS


def _ranges(facts: Store, namespace: str) -> limit_range_judge.LimitRanges | None:
    objects = facts.objects(*_RANGE, namespace)
    if isinstance(objects, Absence):
        return None
    read: dict[str, limit_range_judge.LimitRanges] = facts.derived("limit ranges", [_RANGE], dict)
    found = read.get(namespace)
    if found is None:
        found = limit_range_judge.read(objects)
        if objects:
            read[namespace] = found
    return found


def _resource(workload: model.Workload) -> str:
    """As `count/` of a quota names it; empty for pods, which are counted as such."""
    kind = BY_GROUP_AND_KIND.get((workload.group, workload.kind))
    if kind is None or not kind.plural or workload.is_pod:
        return ""
    return f"{kind.plural}.{workload.group}" if workload.group else kind.plural


def refusals(workload: model.Workload, facts: Store) -> list[limit_range_judge.Refusal]:
    """Why the LimitRanges of its namespace refuse its pods; none where nothing is known of them."""
    ranges = _ranges(facts, workload.namespace) if workload.namespace else None
    return _all_refusals(workload, ranges) if ranges is not None else []


def _all_refusals(workload: model.Workload, ranges: limit_range_judge.LimitRanges) -> list[limit_range_judge.Refusal]:
    found = [each for pod_set in workload.pod_sets for each in limit_range_judge.refusals(pod_set, ranges)]
    return found[: resource_lists.MOST]


def _refusal(refusal: limit_range_judge.Refusal) -> Refusal:
    result: Refusal = {
        "limitRange": refusal.bound.of,
        "path": refusal.path,
        "rule": refusal.bound.rule.value,
        "resource": refusal.bound.resource,
        "bound": amount_of(refusal.bound.amount),
        "said": refusal.said.value,
    }
    if not refusal.bound.of_pod:
        result["container"] = refusal.container
    if refusal.amount is not None:
        result["amount"] = amount_of(refusal.amount)
    if refusal.request is not None:
        result["request"] = amount_of(refusal.request)
    return result


def _shortage(shortage: judge.Shortage, workload: model.Workload) -> Shortage:
    result: Shortage = {
        "quota": shortage.quota,
        "resource": shortage.resource,
        "verdict": shortage.verdict.value,
        "needs": amount_of(shortage.needs),
        "hard": amount_of(shortage.hard),
        "path": next(_places(shortage.resource, workload)),
    }
    if shortage.used is not None:
        result["used"] = amount_of(shortage.used)
    if shortage.parts:
        result["parts"] = [part_document(part) for part in shortage.parts]
    if shortage.assumption:
        result["assumption"] = shortage.assumption
    return result


def part_document(part: verdict.Part) -> Part:
    return {"podSet": part.pod_set, "pods": part.pods, "each": amount_of(part.each)}


def _places(key: str, workload: model.Workload) -> Iterator[str]:
    """Where what a quota counts is asked for, or else the pods."""
    for pod_set in workload.pod_sets:
        yield from (request.path for request in pod_set.requests if counting.key_of(request) == key)
    yield paths.ROOT if key.startswith("count/") else workload.pod_sets[0].path
