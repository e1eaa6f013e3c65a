"""Judges a workload by the ResourceQuotas of its namespace. It counts pod by pod, like the quota controller.

The rules are those of k8s.io/kubernetes pkg/quota/v1/evaluator/core/pods.go and of the admission plugin ResourceQuota
(k8s.io/apiserver pkg/admission/plugin/resourcequota). They apply after the defaults of LimitRanges.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final

from usher import model, quantities
from usher.authorities import gang_demand, runtime_class
from usher.authorities.limit_range import defaults
from usher.authorities.limited_resource import LimitedResource
from usher.authorities.resource_lists import Amounts
from usher.authorities.resource_quota import counting
from usher.authorities.resource_quota.read import NamespaceLimits, ResourceQuota
from usher.authorities.resource_quota.verdict import QuotaVerdict, UnclearQuota, UnstatedAmount
from usher.authorities.verdict import Answer, Reach, Shortage, worst
from usher.dataclass import dataclass
from usher.kinds.registry import WORKLOADS

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
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
    workload = runtime_class.with_overhead(workload, namespace.runtime_classes)
    pods = _pods(workload, namespace)
    limited: list[LimitedResource] = []
    shortages: list[Shortage] = []
    unstated: list[UnstatedAmount] = []
    unclear: list[UnclearQuota] = []
    for quota in namespace.quotas.all:
        counted = [_counts(quota, pod, namespace) for pod in pods]
        for pod, answer in zip(pods, counted, strict=True):
            if answer is not False:
                pod.counted.update(quota.hard)
            if answer is None:
                unclear.append(UnclearQuota(quota=quota.name, pod_set=pod.pod_set))
            if answer:
                unstated += _unstated(quota, pod)
        takes = [pod.takes if answer else {} for pod, answer in zip(pods, counted, strict=True)]
        of_quota = list(_limited(workload, quota, takes))
        limited += of_quota
        shortages += (shortage for each in of_quota for shortage in each.shortages())
        shortages += _of_object(quota, workload)
    answers = [_answer(each) for each in shortages]
    answers += [Answer.COULD for each in limited if each.used is None]
    answers += [Answer.UNKNOWN for _ in (*namespace.quotas.unreadable, *unclear)]
    answers += [Answer.UNKNOWN if namespace.ranges is None else Answer.NEVER for _ in unstated]
    return QuotaVerdict(
        answer=worst(answers),
        shortages=tuple(shortages),
        unknowns=tuple(str(each) for each in namespace.quotas.unreadable),
        limited=tuple(limited),
        unstated=tuple(unstated),
        unclear=tuple(unclear),
        uncounted=tuple(sorted(_uncounted(pods))),
    )


def suffice(quotas: Iterable[ResourceQuota], needed: Iterable[LimitedResource]) -> bool:
    """Whether quotas have room for everything that is needed; true before the first count."""
    by_name = {quota.name: quota for quota in quotas}
    return not any(_exceeds(by_name[each.of], each) for each in needed)


def _exceeds(quota: ResourceQuota, needed: LimitedResource) -> bool:
    if quota.used is None:
        return False
    return needed.needs + quota.used.get(needed.resource, quantities.ZERO) > quota.hard[needed.resource]


def _pods(workload: model.Workload, namespace: NamespaceLimits) -> list[_Pod]:
    quotas = () if namespace.quotas is None else namespace.quotas.all
    limits = any(key.startswith("limits.") for quota in quotas for key in quota.hard)
    found = []
    for pod_set in workload.pod_sets:
        containers = defaults.with_defaults(pod_set.containers, namespace.known_ranges)
        takes = counting.of_pod(pod_set, containers, limits=limits)
        found.append(_Pod(pod_set=pod_set, containers=containers, takes=takes))
    return found


def _counts(quota: ResourceQuota, pod: _Pod, namespace: NamespaceLimits) -> bool | None:
    return counting.counts(
        quota.scopes,
        pod.pod_set,
        pod.containers,
        default_class=namespace.default_class,
        defaults_known=not namespace.known_ranges.unreadable,
    )


def _limited(workload: model.Workload, quota: ResourceQuota, takes: Sequence[Amounts]) -> Iterator[LimitedResource]:
    for key, hard in sorted(quota.hard.items()):
        if key.endswith(counting.DEVICES_OF_CLASS):
            # A claim is counted when it is created, and has no scope.
            each = [] if quota.scopes else [counting.devices(pod_set, key) for pod_set in workload.pod_sets]
        else:
            each = [amounts.get(key, quantities.ZERO) for amounts in takes]
        if any(each):
            yield LimitedResource(
                of=quota.name,
                resource=key,
                demand=gang_demand.of_workload(workload, each),
                most=hard,
                used=None if quota.used is None else quota.used.get(key, quantities.ZERO),
            )


def _of_object(quota: ResourceQuota, workload: model.Workload) -> Iterator[Shortage]:
    """Shortages for the object itself, where a quota counts objects of its kind. Pods are counted as pods."""
    kind = WORKLOADS.get((workload.group, workload.kind))
    if quota.scopes or kind is None or not kind.plural or workload.is_pod:
        return
    key = f"count/{kind.plural}.{workload.group}" if workload.group else f"count/{kind.plural}"
    hard = quota.hard.get(key)
    if hard is not None and hard < counting.ONE:
        yield Shortage(of=quota.name, resource=key, reach=Reach.START, needs=counting.ONE, most=hard)


def _answer(shortage: Shortage) -> Answer:
    found = _ANSWERS[shortage.reach]
    return Answer.UNKNOWN if shortage.assumption and found is Answer.NEVER else found


def _unstated(quota: ResourceQuota, pod: _Pod) -> Iterator[UnstatedAmount]:
    if pod.pod_set.pod_requests or pod.pod_set.pod_limits:
        return
    written = {container.path: container for container in pod.pod_set.containers}
    wanted = dict.fromkeys(_REQUIRED[key] for key in sorted(quota.hard) if key in _REQUIRED)
    for container in pod.containers:
        for kind, name in wanted:
            if name not in (container.requests if kind == "requests" else container.limits):
                yield UnstatedAmount(quota=quota.name, container=written[container.path], what=f"{kind}.{name}")


def _uncounted(pods: Iterable[_Pod]) -> Iterator[str]:
    for pod in pods:
        for request in pod.pod_set.requests:
            key = counting.key_of(request)
            if key and key not in pod.counted:
                yield request.name
