"""What the ResourceQuotas of a namespace leave to a workload: counted pod by pod, as the quota controller does it.

The rules are those of k8s.io/kubernetes pkg/quota/v1/evaluator/core/pods.go and of the admission plugin ResourceQuota
(k8s.io/apiserver pkg/admission/plugin/resourcequota), which come after the defaults of LimitRanges.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from usher import model, paths, quantities
from usher.authorities import gang_demand, resource_lists
from usher.authorities.limit_range import judge as limit_range_judge
from usher.authorities.resource_lists import Amounts, Unreadable
from usher.authorities.resource_quota import counting as resource_quota_counting
from usher.authorities.verdict import Part

_REQUIRED: Final = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
"""Keys of a quota for which every container has to say something, with what it has to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    name: str
    hard: Amounts
    used: Amounts | None
    """None where nobody has counted yet, as in files."""
    scopes: tuple[resource_quota_counting.Scope, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    all: tuple[Quota, ...]
    unreadable: tuple[Unreadable, ...]


class Verdict(StrEnum):
    """How far a workload gets, worst first."""

    NEVER = "never"
    """It cannot start, whatever else runs in the namespace."""
    NOT_ALL = "not all"
    """It starts, and never has all of its pods."""
    NOT_LARGEST = "not largest"
    """It has all pods that it must have, and cannot grow as far as it says."""
    NOT_NOW = "not now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A key of a quota that does not suffice."""

    quota: str
    resource: str
    """The key in `hard`."""
    verdict: Verdict
    needs: quantities.Quantity
    hard: quantities.Quantity
    used: quantities.Quantity | None = None
    """Only where it decides."""
    parts: tuple[Part, ...] = ()
    assumption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """A key of a quota that counts what a workload takes."""

    quota: str
    resource: str
    """The key in `hard`."""
    together: gang_demand.Together
    hard: quantities.Quantity
    used: quantities.Quantity | None
    """None where nobody has counted yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaid:
    """A container that says nothing of what a quota counts: the API server accepts no such pod."""

    quota: str
    container: model.Container
    what: str
    """As in `limits.memory`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A quota of which nobody knows whether it counts the pods."""

    quota: str
    pod_set: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a workload needs of a key that would suffice, were nothing used."""

    quota: str
    resource: str
    needs: quantities.Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    balances: tuple[Balance, ...]
    """Of every key by which pods are counted, enough or not."""
    shortages: tuple[Shortage, ...]
    unsaid: tuple[Unsaid, ...]
    doubts: tuple[Doubt, ...]
    uncounted: tuple[str, ...]
    """Accelerator resources and device classes that no quota counts for these pods."""
    claims: tuple[Claim, ...] = ()
    """All on which what is used has an influence."""


def read(objects: Mapping[str, paths.Object]) -> Quotas:
    """The quotas of one namespace, by name."""
    found = []
    known, unreadable = resource_lists.first(objects, "ResourceQuota")
    for name, value in known.items():
        source = resource_lists.Source(f"ResourceQuota {name}", value)
        scoping = resource_lists.Source(source.of, value)
        # The controller copies spec.hard, and admission looks at its copy.
        found.append(
            Quota(
                name=name,
                hard=source.amounts("/spec/hard"),
                used=None if source.at("/status/used") is None else source.amounts("/status/used"),
                scopes=_scopes(scoping),
            )
        )
        unreadable += dict.fromkeys((*source.unreadable, *scoping.unreadable))
    return Quotas(all=tuple(found), unreadable=tuple(unreadable))


def _scopes(source: resource_lists.Source) -> tuple[resource_quota_counting.Scope, ...]:
    found = [resource_quota_counting.Scope(name=name) for name in source.texts("/spec/scopes")]
    found += (
        resource_quota_counting.Scope(
            name=source.text(f"{place}/scopeName"),
            operator=source.text(f"{place}/operator"),
            values=source.texts(f"{place}/values"),
        )
        for place in source.items("/spec/scopeSelector/matchExpressions")
    )
    # What is left of a requirement may be met by no pod, while the whole of it is.
    return (resource_quota_counting.UNREADABLE,) if source.unreadable else tuple(found)


def assess(
    workload: model.Workload,
    quotas: Sequence[Quota],
    ranges: limit_range_judge.LimitRanges,
    *,
    default_class: str | None,
    resource: str = "",
) -> Assessment:
    """What stands in a workload's way.

    Args:
        workload: the object.
        quotas: of its namespace.
        ranges: LimitRanges of its namespace.
        default_class: as in `quota_scopes.counts`.
        resource: the object's own resource with its group, as in `jobs.batch`; empty where nobody counts it.
    """
    filled = [limit_range_judge.with_defaults(pod_set.containers, ranges) for pod_set in workload.pod_sets]
    limits = any(key.startswith("limits.") for quota in quotas for key in quota.hard)
    used = [
        resource_quota_counting.of_pod(pod_set, containers, limits=limits)
        for pod_set, containers in zip(workload.pod_sets, filled, strict=True)
    ]
    balances: list[Balance] = []
    shortages: list[Shortage] = []
    claims: list[Claim] = []
    unsaid: list[Unsaid] = []
    doubts: list[Doubt] = []
    counted: list[set[str]] = [set() for _ in workload.pod_sets]
    for quota in quotas:
        counting = [
            resource_quota_counting.counts(
                quota.scopes,
                pod_set,
                containers,
                default_class=default_class,
                defaults_known=not ranges.unreadable,
            )
            for pod_set, containers in zip(workload.pod_sets, filled, strict=True)
        ]
        for index, answer in enumerate(counting):
            if answer is not False:
                counted[index].update(quota.hard)
            if answer is None:
                doubts.append(Doubt(quota=quota.name, pod_set=workload.pod_sets[index].name))
            if answer:
                unsaid += _unsaid(quota, workload.pod_sets[index], filled[index])
        taken = [amounts if answer else {} for amounts, answer in zip(used, counting, strict=True)]
        of_quota = list(_balances(workload, quota, taken))
        balances += of_quota
        shortages += (shortage for balance in of_quota for shortage in _shortages(balance))
        claims += filter(None, map(_claim, of_quota))
        if not quota.scopes and resource:
            shortages += _of_object(quota, f"count/{resource}")
    return Assessment(
        balances=tuple(balances),
        shortages=tuple(shortages),
        unsaid=tuple(unsaid),
        doubts=tuple(doubts),
        uncounted=tuple(sorted(_uncounted(workload, counted))),
        claims=tuple(claims),
    )


def suffice(quotas: Sequence[Quota], claims: Sequence[Claim]) -> bool:
    """Whether what is used leaves enough for all claims; where nobody has counted yet, it does."""
    used = {quota.name: quota for quota in quotas}
    return not any(_exceeds(used[claim.quota], claim.resource, claim.needs) for claim in claims)


def _exceeds(quota: Quota, key: str, needs: quantities.Quantity) -> bool:
    return quota.used is not None and (needs + quota.used.get(key, quantities.ZERO)) > quota.hard[key]


def _balances(workload: model.Workload, quota: Quota, used: Sequence[Amounts]) -> Iterator[Balance]:
    for key, hard in sorted(quota.hard.items()):
        if key.endswith(resource_quota_counting.DEVICES_OF_CLASS):
            # Claims are counted when they are made, and have no scope.
            each = (
                [] if quota.scopes else [resource_quota_counting.devices(pod_set, key) for pod_set in workload.pod_sets]
            )
        else:
            each = [amounts.get(key, quantities.ZERO) for amounts in used]
        if any(each):
            yield Balance(
                quota=quota.name,
                resource=key,
                together=gang_demand.together(workload, each),
                hard=hard,
                used=None if quota.used is None else quota.used.get(key, quantities.ZERO),
            )


def _claim(balance: Balance) -> Claim | None:
    """What is needed of a key for which what is used decides; None where nothing is, or it never suffices."""
    found = balance.together
    needs = found.starts if found.is_gang else found.all
    if not needs or found.starts > balance.hard or found.all > balance.hard:
        return None
    return Claim(quota=balance.quota, resource=balance.resource, needs=needs)


def _shortages(balance: Balance) -> Iterator[Shortage]:
    found, hard, left = balance.together, balance.hard, balance.used
    shortage = Shortage(
        quota=balance.quota,
        resource=balance.resource,
        verdict=Verdict.NEVER,
        needs=found.starts,
        hard=hard,
        assumption=found.assumption,
    )
    if found.starts > hard:
        parts = found.parts if found.starts == found.all else ()
        yield replace(shortage, parts=parts, assumption=found.assumption if found.is_gang else "")
    elif found.all > hard:
        yield replace(shortage, verdict=Verdict.NOT_ALL, needs=found.all, parts=found.parts)
    else:
        if found.most is not None and found.most > hard:
            yield replace(shortage, verdict=Verdict.NOT_LARGEST, needs=found.most)
        needs = found.starts if found.is_gang else found.all
        if left is not None and needs and (needs + left) > hard:
            parts = found.parts if needs == found.all else ()
            yield replace(shortage, verdict=Verdict.NOT_NOW, needs=needs, used=left, parts=parts)


def _of_object(quota: Quota, key: str) -> Iterator[Shortage]:
    hard = quota.hard.get(key)
    if hard is not None and hard < resource_quota_counting.ONE:
        yield Shortage(
            quota=quota.name, resource=key, verdict=Verdict.NEVER, needs=resource_quota_counting.ONE, hard=hard
        )


def _unsaid(quota: Quota, pod_set: model.PodSet, filled: Sequence[model.Container]) -> Iterator[Unsaid]:
    if pod_set.pod_requests or pod_set.pod_limits:
        return
    written = {container.path: container for container in pod_set.containers}
    wanted = sorted(key for key in quota.hard if key in _REQUIRED)
    for container in filled:
        for what in dict.fromkeys(".".join(_REQUIRED[key]) for key in wanted):
            kind, _, name = what.partition(".")
            if name not in (container.requests if kind == "requests" else container.limits):
                yield Unsaid(quota=quota.name, container=written[container.path], what=what)


def _uncounted(workload: model.Workload, counted: Sequence[set[str]]) -> Iterator[str]:
    for pod_set, keys in zip(workload.pod_sets, counted, strict=True):
        for request in pod_set.requests:
            key = resource_quota_counting.key_of(request)
            if key and key not in keys:
                yield request.name
