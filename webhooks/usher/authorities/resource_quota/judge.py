"""Reads the ResourceQuotas of a namespace, and judges a workload by them, pod by pod like the quota controller.

The rules are those of k8s.io/kubernetes pkg/quota/v1/evaluator/core/pods.go and of the admission plugin ResourceQuota
(k8s.io/apiserver pkg/admission/plugin/resourcequota). They apply after the defaults of LimitRanges.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from msgspec import Struct, field

from usher import model, paths, quantities
from usher.authorities import authority, limit_range, priority, verdict
from usher.authorities.authority import LimitedResource
from usher.authorities.knowledge import Knowledge
from usher.authorities.limit_range import NO_RANGES, LimitRanges
from usher.authorities.verdict import Amounts, Answer, Reach, Shortage, Unreadable, Verdict, worst
from usher.cluster.facts.store import Objects, Store
from usher.kinds.reading.values import Absence
from usher.kinds.registry import WORKLOADS
from usher.quantities import Quantity

_QUOTA: Final = ("", "ResourceQuota")


class Scope(Struct, frozen=True, kw_only=True):
    """One requirement of a quota. The quota counts only pods that meet all its requirements."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


UNREADABLE: Final = Scope(name="")
"""An unreadable requirement."""


class ResourceQuota(Struct, frozen=True, kw_only=True):
    name: str
    hard: Amounts
    used: Amounts | None
    """Current usage; None before the first count, as in files."""
    scopes: tuple[Scope, ...]


class Limit(Struct, frozen=True, kw_only=True):
    """The amount that one quota allows of one resource."""

    of: str
    """The name of the quota."""
    hard: Quantity
    used: Quantity | None
    left: int
    """The nanos that are not used; all of them before the first count."""


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of several quotas for one resource. Most workloads need only the first of each order."""

    by_most: tuple[Limit, ...]
    """The smallest `hard` first."""
    by_room: tuple[Limit, ...]
    """The smallest room first."""
    uncounted: Limit | None
    """The first limit without a count."""


class QuotaGroup(Struct, frozen=True, kw_only=True):
    """The quotas of a namespace with the same scopes, which therefore count the same pods."""

    scopes: tuple[Scope, ...]
    names: tuple[str, ...]
    limits: Mapping[str, Limits]
    """By the key of the quotas, in order."""


class ResourceQuotas(Struct, frozen=True, kw_only=True):
    all: tuple[ResourceQuota, ...] = ()
    groups: tuple[QuotaGroup, ...] = ()
    """The same quotas, so that a workload is compared with the tightest of them and not with each."""
    unreadable: tuple[Unreadable, ...] = ()


class NamespaceLimits(Struct, frozen=True, kw_only=True):
    """The facts that decide whether pods of a namespace are within its ResourceQuotas."""

    quotas: ResourceQuotas | None
    """None where they are unknown."""
    ranges: LimitRanges | None = None
    """None where they are unknown."""
    default_class: str | None = None
    """The PriorityClass of pods without a class name; empty without a default class, None where it is unknown."""
    runtime_classes: Mapping[str, paths.Object] | Absence = Absence.NOT_KNOWN

    @property
    def known_ranges(self) -> LimitRanges:
        return self.ranges or NO_RANGES

    @property
    def defaults_known(self) -> bool:
        """Whether all LimitRanges are known and readable, so that containers cannot get other defaults."""
        return self.ranges is not None and not self.ranges.unreadable


def of_namespace(namespace: str, known: Knowledge) -> NamespaceLimits:
    """The limits of a namespace. The quotas and ranges stay the same values until one of them changes."""
    return NamespaceLimits(
        quotas=_quotas(known.facts, namespace),
        ranges=limit_range.ranges_of_namespace(namespace, known.facts),
        default_class=priority.default_class_name(known.facts, known.config.priorities.global_default),
        runtime_classes=known.facts.objects("node.k8s.io", "RuntimeClass"),
    )


def _quotas(facts: Store, namespace: str) -> ResourceQuotas | None:
    objects = facts.objects(*_QUOTA, namespace)
    if isinstance(objects, Absence):
        return None
    if not objects:
        return _NO_QUOTAS
    # Usage changes without a new revision, but each change replaces the objects of the namespace.
    kept: dict[str, tuple[Objects, ResourceQuotas]] = facts.derived("resource quotas", [_QUOTA], dict)
    last = kept.get(namespace)
    if last is None or last[0] is not objects:
        last = kept[namespace] = objects, read(objects)
    return last[1]


_NO_QUOTAS: Final = ResourceQuotas()


def read(objects: Mapping[str, paths.Object]) -> ResourceQuotas:
    """The quotas of one namespace, by name."""
    found = []
    known, unreadable = verdict.first_objects(objects, "ResourceQuota")
    for name, value in known.items():
        source = verdict.SourceObject(f"ResourceQuota {name}", value)
        scoping = verdict.SourceObject(source.of, value)
        # status.hard is not read: the controller copies spec.hard there, and may lag behind.
        found.append(
            ResourceQuota(
                name=name,
                hard=source.amounts("/spec/hard"),
                used=None if source.at("/status/used") is None else source.amounts("/status/used"),
                scopes=_scopes(scoping),
            )
        )
        unreadable += dict.fromkeys((*source.unreadable, *scoping.unreadable))
    return ResourceQuotas(all=tuple(found), groups=tuple(_groups(found)), unreadable=tuple(unreadable))


def _groups(quotas: Iterable[ResourceQuota]) -> Iterator[QuotaGroup]:
    by_scopes: dict[tuple[Scope, ...], list[ResourceQuota]] = {}
    for quota in quotas:
        by_scopes.setdefault(quota.scopes, []).append(quota)
    for scopes, members in by_scopes.items():
        by_key: dict[str, list[Limit]] = {}
        for quota in members:
            for key, hard in quota.hard.items():
                used = None if quota.used is None else quota.used.get(key, quantities.ZERO)
                left = hard.nanos - (0 if used is None else used.nanos)
                by_key.setdefault(key, []).append(Limit(of=quota.name, hard=hard, used=used, left=left))
        limits = {key: _limits(by_key[key]) for key in sorted(by_key)}
        yield QuotaGroup(scopes=scopes, names=tuple(quota.name for quota in members), limits=limits)


def _limits(limits: Sequence[Limit]) -> Limits:
    return Limits(
        by_most=tuple(sorted(limits, key=lambda limit: limit.hard.nanos)),
        by_room=tuple(sorted(limits, key=lambda limit: limit.left)),
        uncounted=next((limit for limit in limits if limit.used is None), None),
    )


def _scopes(source: verdict.SourceObject) -> tuple[Scope, ...]:
    found = [Scope(name=name) for name in source.texts("/spec/scopes")]
    found += (
        Scope(
            name=source.text(f"{place}/scopeName"),
            operator=source.text(f"{place}/operator"),
            values=source.texts(f"{place}/values"),
        )
        for place in source.items("/spec/scopeSelector/matchExpressions")
    )
    # The readable part of a requirement may select other pods than the whole requirement.
    return (UNREADABLE,) if source.unreadable else tuple(found)


_COUNTING_FOR_QOS: Final = frozenset({"cpu", "memory"})
"""Without these resources a pod is BestEffort, even if it asks for accelerators."""

ONE_OBJECT: Final = quantities.Quantity(quantities.NANO)

DEVICES_OF_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
"""The suffix of the key that counts the devices of a class in ResourceClaims."""


def counts_pods(
    scopes: Iterable[Scope],
    pod_set: model.PodSet,
    containers: Iterable[model.Container],
    *,
    default_class: str | None,
    defaults_known: bool = True,
) -> bool | None:
    """Whether a quota counts the pods of a pod set; None where usher cannot know it.

    Args:
        containers: the containers of the pods, with all defaults.
        default_class: the PriorityClass of pods without a class name; empty without a default class, None if unknown.
        defaults_known: whether `containers` have all defaults that LimitRanges set.
    """
    containers = tuple(containers)
    answers = {_meets(scope, pod_set, containers, default_class, defaults_known=defaults_known) for scope in scopes}
    if False in answers:
        return False
    return None if None in answers else True


def _meets(
    scope: Scope,
    pod_set: model.PodSet,
    containers: Iterable[model.Container],
    default_class: str | None,
    *,
    defaults_known: bool,
) -> bool | None:
    match scope.name:
        case UNREADABLE.name:
            return None
        case "Terminating":
            return _has_deadline(pod_set)
        case "NotTerminating":
            return not _has_deadline(pod_set)
        case "BestEffort" | "NotBestEffort":
            is_best_effort = _is_best_effort(pod_set, containers)
            if is_best_effort and not defaults_known:
                return None
            return is_best_effort is (scope.name == "BestEffort")
        case "PriorityClass":
            return _has_class(scope, pod_set.priority_class_name or default_class)
        case "CrossNamespacePodAffinity":
            affinity = pod_set.fields.get("affinity", {})
            # The model does not show whether a term selects another namespace.
            return None if "podAffinity" in affinity or "podAntiAffinity" in affinity else False
    return False


def _has_class(scope: Scope, name: str | None) -> bool | None:
    if name is None:
        return None
    match scope.operator:
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
        case "In":
            return name in scope.values and bool(name)
        case "NotIn":
            return name not in scope.values
    return None


def _has_deadline(pod_set: model.PodSet) -> bool:
    """Whether the pod itself has a deadline. A pod does not get the deadline of its Job."""
    deadline: int = pod_set.fields.get("activeDeadlineSeconds", -1)
    return deadline >= 0


def _is_best_effort(pod_set: model.PodSet, containers: Iterable[model.Container]) -> bool:
    of_pod = (pod_set.pod_requests, pod_set.pod_limits)
    of_containers = [each for container in containers for each in (container.requests, container.limits)]
    return not any(resources.get(name) for resources in (*of_pod, *of_containers) for name in _COUNTING_FOR_QOS)


def amounts_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container], *, limits: bool) -> Amounts:
    """The amounts that quotas count for one pod, by quota key.

    Args:
        containers: the containers of the pod, with all defaults.
        limits: whether any quota counts limits.
    """
    asked = limit_range.requests_of_pod(pod_set, containers, overhead=pod_set.overhead)
    found: dict[str, quantities.Quantity] = {"pods": ONE_OBJECT, "count/pods": ONE_OBJECT}
    for name, amount in asked.items():
        if name in {"cpu", "memory", "ephemeral-storage"} or name.startswith("hugepages-"):
            found[name] = amount
            found[f"requests.{name}"] = amount
        elif is_extended(name):
            found[f"requests.{name}"] = amount
    if limits:
        found |= _limit_amounts(pod_set, containers)
    return found


def _limit_amounts(pod_set: model.PodSet, containers: Sequence[model.Container]) -> Amounts:
    limits = limit_range.limits_of_pod(pod_set, containers)
    found = {}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if name in limits:
            overhead = pod_set.overhead.get(name, quantities.ZERO) if limits[name] else quantities.ZERO
            found[f"limits.{name}"] = limits[name] + overhead
    return found


def is_extended(name: str) -> bool:
    """Whether a resource is an extended resource (pkg/apis/core/v1/helper IsExtendedResourceName)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def claimed_devices(pod_set: model.PodSet, key: str) -> quantities.Quantity:
    """The devices of a class in the claims of one pod."""
    name = key.removesuffix(DEVICES_OF_CLASS)
    claimed = [
        request.minimum.nanos
        for request in pod_set.requests
        if request.route is model.Route.CLAIM and request.name == name and not request.claim
    ]
    return quantities.Quantity(sum(claimed))


def quota_key(request: model.AcceleratorRequest) -> str:
    """The quota key that counts an accelerator request; empty where no key counts it."""
    match request.route:
        case model.Route.RESOURCE | model.Route.PARTITION | model.Route.SHARE:
            return f"requests.{request.name}" if is_extended(request.name) else ""
        case model.Route.CLAIM:
            return f"{request.name}{DEVICES_OF_CLASS}"
    return ""


class UnstatedAmount(Struct, frozen=True, kw_only=True):
    """An amount that a container must state because a quota counts it; else the API server refuses the pod."""

    quota: str
    container: model.Container
    what: str
    """The field to set, for example `limits.memory`."""


class UnclearQuota(Struct, frozen=True, kw_only=True):
    """A quota that may count the pods of a pod set; usher cannot decide it."""

    quota: str
    pod_set: model.PodSet


class Need(Struct, frozen=True, kw_only=True):
    """The demand of a workload for one key of all quotas with the same scopes."""

    scopes: tuple[Scope, ...]
    resource: str
    demand: verdict.GangDemand


class QuotaVerdict(Verdict, frozen=True, kw_only=True):
    limited: tuple[LimitedResource, ...]
    """Each quota key that counts the pods: the quotas with too little room, or else the tightest of them."""
    needed: tuple[Need, ...]
    """The resources where usage decides whether there is room."""
    unstated: tuple[UnstatedAmount, ...]
    unclear: tuple[UnclearQuota, ...]
    uncounted: tuple[str, ...]
    """Accelerator resources and device classes that no quota counts for these pods."""


_REQUIRED: Final = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
"""Quota keys that require an amount in every container, with the field that the container must set."""

_ANSWERS: Final = {
    Reach.START: Answer.NEVER,
    Reach.NOW: Answer.NOT_NOW,
    Reach.ALL: Answer.COULD,
    Reach.LARGEST: Answer.FITS,
}


class _Pod(Struct, frozen=True, kw_only=True):
    """One pod of a pod set."""

    pod_set: model.PodSet
    containers: Sequence[model.Container]
    """The containers, with all defaults."""
    takes: Amounts
    """The amounts of the pod, by quota key."""
    counted: set[str] = field(default_factory=set)
    """The keys of quotas that count the pod, or may count it."""


def judge(workload: model.Workload, namespace: NamespaceLimits) -> QuotaVerdict | None:
    """The verdict of the quotas on a workload; None where the quotas of its namespace are unknown."""
    if namespace.quotas is None:
        return None
    workload = authority.with_overhead(workload, namespace.runtime_classes)
    pods = _counted_pods(workload, namespace)
    limited: list[LimitedResource] = []
    needed: list[Need] = []
    shortages: list[Shortage] = []
    unstated: list[UnstatedAmount] = []
    unclear: list[UnclearQuota] = []
    for group in namespace.quotas.groups:
        counted = [_counts_pod(group, pod, namespace) for pod in pods]
        for pod, answer in zip(pods, counted, strict=True):
            if answer is not False:
                pod.counted.update(group.limits)
            if answer is None:
                unclear += (UnclearQuota(quota=name, pod_set=pod.pod_set) for name in group.names)
            if answer:
                unstated += _unstated(group, pod)
        takes = [pod.takes if answer else {} for pod, answer in zip(pods, counted, strict=True)]
        of_group = list(_needs(workload, group, takes))
        needed += of_group
        limited += (each for need in of_group for each in _limited_resources(need, group.limits[need.resource]))
        shortages += _shortages_of_object(group, workload)
    limited.sort(key=lambda each: (each.of, each.resource))
    shortages += (shortage for each in limited for shortage in each.shortages())
    answers = [_answer(each) for each in shortages]
    answers += [Answer.COULD for each in limited if each.used is None]
    answers += [Answer.UNKNOWN for _ in (*namespace.quotas.unreadable, *unclear)]
    answers += [Answer.UNKNOWN if namespace.ranges is None else Answer.NEVER for _ in unstated]
    return QuotaVerdict(
        answer=worst(answers),
        shortages=tuple(shortages),
        unknowns=tuple(str(each) for each in namespace.quotas.unreadable),
        limited=tuple(limited),
        needed=tuple(needed),
        unstated=tuple(unstated),
        unclear=tuple(unclear),
        uncounted=tuple(sorted(_uncounted(pods))),
    )


def suffice(quotas: ResourceQuotas, needed: Iterable[Need]) -> bool:
    """Whether quotas have room for everything that is needed; true before the first count."""
    by_scopes = {group.scopes: group for group in quotas.groups}
    return not any(_is_short(need, by_scopes[need.scopes].limits[need.resource]) for need in needed)


def _is_short(need: Need, limits: Limits) -> bool:
    limited = _limited_resources(need, limits)
    return any(shortage.reach is Reach.NOW for each in limited for shortage in each.shortages())


def _counted_pods(workload: model.Workload, namespace: NamespaceLimits) -> list[_Pod]:
    groups = () if namespace.quotas is None else namespace.quotas.groups
    limits = any(key.startswith("limits.") for group in groups for key in group.limits)
    found = []
    for pod_set in workload.pod_sets:
        containers = limit_range.with_defaults(pod_set.containers, namespace.known_ranges)
        takes = amounts_of_pod(pod_set, containers, limits=limits)
        found.append(_Pod(pod_set=pod_set, containers=containers, takes=takes))
    return found


def _counts_pod(group: QuotaGroup, pod: _Pod, namespace: NamespaceLimits) -> bool | None:
    return counts_pods(
        group.scopes,
        pod.pod_set,
        pod.containers,
        default_class=namespace.default_class,
        defaults_known=not namespace.known_ranges.unreadable,
    )


def _needs(workload: model.Workload, group: QuotaGroup, takes: Sequence[Amounts]) -> Iterator[Need]:
    for key in group.limits:
        if key.endswith(DEVICES_OF_CLASS):
            # A claim is counted when it is created, and has no scope.
            each = [] if group.scopes else [claimed_devices(pod_set, key) for pod_set in workload.pod_sets]
        else:
            each = [amounts.get(key, quantities.ZERO) for amounts in takes]
        if any(each):
            yield Need(scopes=group.scopes, resource=key, demand=verdict.demand_of_workload(workload, each))


def _limited_resources(need: Need, limits: Limits) -> Iterator[LimitedResource]:
    """The limits that are too small and those that have too little room now, or else the tightest ones."""
    demand = need.demand
    most = max(demand.starts.nanos, demand.all.nanos, (demand.largest or quantities.ZERO).nanos)
    now = (demand.starts if demand.is_gang else demand.all).nanos
    found = [*takewhile(lambda limit: limit.hard.nanos < most, limits.by_most), limits.by_most[0]]
    found += [*takewhile(lambda limit: limit.left < now, limits.by_room), limits.by_room[0]]
    found += [limits.uncounted] if limits.uncounted else []
    for limit in {limit.of: limit for limit in found}.values():
        yield LimitedResource(of=limit.of, resource=need.resource, demand=demand, most=limit.hard, used=limit.used)


def _shortages_of_object(group: QuotaGroup, workload: model.Workload) -> Iterator[Shortage]:
    """Shortages for the object itself, where a quota counts objects of its kind. Pods are counted as pods."""
    kind = WORKLOADS.get((workload.group, workload.kind))
    if group.scopes or kind is None or not kind.plural or workload.is_pod:
        return
    key = f"count/{kind.plural}.{workload.group}" if workload.group else f"count/{kind.plural}"
    if key in group.limits:
        for limit in takewhile(lambda limit: limit.hard < ONE_OBJECT, group.limits[key].by_most):
            yield Shortage(of=limit.of, resource=key, reach=Reach.START, needs=ONE_OBJECT, most=limit.hard)


def _answer(shortage: Shortage) -> Answer:
    found = _ANSWERS[shortage.reach]
    return Answer.UNKNOWN if shortage.assumption and found is Answer.NEVER else found


def _unstated(group: QuotaGroup, pod: _Pod) -> Iterator[UnstatedAmount]:
    if pod.pod_set.pod_requests or pod.pod_set.pod_limits:
        return
    written = {container.path: container for container in pod.pod_set.containers}
    wanted = {_REQUIRED[key]: limits.by_most[0].of for key, limits in group.limits.items() if key in _REQUIRED}
    for container in pod.containers:
        for (kind, name), quota in wanted.items():
            if name not in (container.requests if kind == "requests" else container.limits):
                yield UnstatedAmount(quota=quota, container=written[container.path], what=f"{kind}.{name}")


def _uncounted(pods: Iterable[_Pod]) -> Iterator[str]:
    for pod in pods:
        for request in pod.pod_set.requests:
            key = quota_key(request)
            if key and key not in pod.counted:
                yield request.name
