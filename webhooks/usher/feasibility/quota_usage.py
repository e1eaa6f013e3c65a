"""What one pod takes of ResourceQuotas, by the keys under which they count it.

The keys are those of k8s.io/kubernetes pkg/quota/v1/evaluator/core (pods.go, resource_claims.go).
"""

from collections.abc import Sequence
from typing import Final

from usher import model, quantities
from usher.feasibility import limit_ranges
from usher.feasibility.resource_lists import Amounts

ONE: Final = quantities.Quantity(quantities.NANO)

DEVICES_OF_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
"""Suffix of the key that counts the devices of a class by ResourceClaims."""


def of_pod(pod_set: model.PodSet, containers: Sequence[model.Container], *, limits: bool) -> Amounts:
    """What one pod takes of quotas, by their keys.

    Args:
        pod_set: the pod.
        containers: its containers, with all defaults filled in.
        limits: whether any quota counts limits.
    """
    asked = limit_ranges.requests_of_pod(pod_set, containers, overhead=pod_set.overhead)
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
    whole = limit_ranges.limits_of_pod(pod_set, containers)
    found = {}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if name in whole:
            overhead = pod_set.overhead.get(name, quantities.ZERO) if whole[name] else quantities.ZERO
            found[f"limits.{name}"] = whole[name] + overhead
    return found


def is_extended(name: str) -> bool:
    """Whether a resource is none of Kubernetes' own (pkg/apis/core/v1/helper IsExtendedResourceName)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def devices(pod_set: model.PodSet, key: str) -> quantities.Quantity:
    """Devices of a class that one pod gets by claims that are made for it."""
    name = key.removesuffix(DEVICES_OF_CLASS)
    claimed = [
        request.minimum.nanos
        for request in pod_set.requests
        if request.route is model.Route.CLAIM and request.name == name and not request.claim
    ]
    return quantities.Quantity(sum(claimed))


def key_of(request: model.AcceleratorRequest) -> str:
    """The key of a quota that counts what a pod asks for; empty where none does."""
    match request.route:
        case model.Route.RESOURCE | model.Route.PARTITION | model.Route.SHARE:
            return f"requests.{request.name}" if is_extended(request.name) else ""
        case model.Route.CLAIM:
            return f"{request.name}{DEVICES_OF_CLASS}"
    return ""
