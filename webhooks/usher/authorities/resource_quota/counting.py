"""Which pods a ResourceQuota counts, and in which amounts (k8s.io/kubernetes pkg/quota/v1/evaluator/core/pods.go)."""

from collections.abc import Iterable, Sequence
from typing import Final

from usher import model, quantities
from usher.authorities.limit_range import defaults
from usher.authorities.resource_lists import Amounts
from usher.authorities.resource_quota.read import UNREADABLE, Scope

_COUNTING_FOR_QOS: Final = frozenset({"cpu", "memory"})
"""Without these resources a pod is BestEffort, even if it asks for accelerators."""


ONE: Final = quantities.Quantity(quantities.NANO)

DEVICES_OF_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
"""The suffix of the key that counts the devices of a class in ResourceClaims."""


def counts(
    scopes: Iterable[Scope],
    pod_set: model.PodSet,
    containers: Iterable[model.Container],
    *,
    default_class: str | None,
    defaults_known: bool = True,
) -> bool | None:
    """Whether a quota counts the pods of a pod set; None where usher cannot know it.

    Args:
        scopes: the scopes of the quota.
        pod_set: the pods.
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


def of_pod(pod_set: model.PodSet, containers: Sequence[model.Container], *, limits: bool) -> Amounts:
    """The amounts that quotas count for one pod, by quota key.

    Args:
        pod_set: the pod.
        containers: its containers, with all defaults.
        limits: whether any quota counts limits.
    """
    asked = defaults.requests_of_pod(pod_set, containers, overhead=pod_set.overhead)
    found: dict[str, quantities.Quantity] = {"pods": ONE, "count/pods": ONE}
    for name, amount in asked.items():
        if name in {"cpu", "memory", "ephemeral-storage"} or name.startswith("hugepages-"):
            found[name] = amount
            found[f"requests.{name}"] = amount
        elif is_extended(name):
            found[f"requests.{name}"] = amount
    if limits:
        found |= _limits(pod_set, containers)
    return found


def _limits(pod_set: model.PodSet, containers: Sequence[model.Container]) -> Amounts:
    whole = defaults.limits_of_pod(pod_set, containers)
    found = {}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if name in whole:
            overhead = pod_set.overhead.get(name, quantities.ZERO) if whole[name] else quantities.ZERO
            found[f"limits.{name}"] = whole[name] + overhead
    return found


def is_extended(name: str) -> bool:
    """Whether a resource is an extended resource (pkg/apis/core/v1/helper IsExtendedResourceName)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def devices(pod_set: model.PodSet, key: str) -> quantities.Quantity:
    """The devices of a class in the claims of one pod."""
    name = key.removesuffix(DEVICES_OF_CLASS)
    claimed = [
        request.minimum.nanos
        for request in pod_set.requests
        if request.route is model.Route.CLAIM and request.name == name and not request.claim
    ]
    return quantities.Quantity(sum(claimed))


def key_of(request: model.AcceleratorRequest) -> str:
    """The quota key that counts an accelerator request; empty where no key counts it."""
    match request.route:
        case model.Route.RESOURCE | model.Route.PARTITION | model.Route.SHARE:
            return f"requests.{request.name}" if is_extended(request.name) else ""
        case model.Route.CLAIM:
            return f"{request.name}{DEVICES_OF_CLASS}"
    return ""
