"""Which node pools offer the devices that pods ask for, by resource or by device class.

A pool says what it offers by its `resources`. It offers a device class if it lists a resource that the devices of this
class have, or the implicit resource of the class. usher guesses nothing from the name of an unknown class.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from usher import model
from usher.accelerators.names import CLAIM_PREFIX
from usher.accelerators.vocabulary import Vocabulary
from usher.config import pools as config_pools

_ROUTES_OF_NVIDIA: Final = {
    model.Route.FRACTION: ("nvidia.com/gpu", "nvidia.com/gpu.shared"),
    model.Route.DEVICE_ANNOTATION: ("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-*"),
}
"""Annotations of KAI and of GKE name no resource; both are for GPUs of NVIDIA."""


class Offers(NamedTuple):
    """The pools that offer all that a pod asks for."""

    pools: tuple[config_pools.Pool, ...]
    unmatched: tuple[str, ...] = ()
    """Device classes whose pools usher does not know; then it names no pools."""


class _Need(NamedTuple):
    """A request, with the resources of pools for each device that satisfies it."""

    alternatives: Mapping[str, tuple[str, ...]]


def offering(pod_set: model.PodSet, pools: Sequence[config_pools.Pool], vocabulary: Vocabulary) -> Offers:
    """The pools that offer all that one pod of the set asks for; all pools if it asks for no accelerator."""
    needs = list(_needs(pod_set, vocabulary))
    unmatched = [name for need in needs for name in _unmatched(need, pools)]
    if unmatched:
        return Offers((), tuple(dict.fromkeys(unmatched)))
    return Offers(tuple(pool for pool in pools if all(_offers(pool, need) for need in needs)))


def _needs(pod_set: model.PodSet, vocabulary: Vocabulary) -> Iterator[_Need]:
    likes = {request.name: request.like for request in pod_set.requests}
    for name in pod_set.accelerators:
        meaning = vocabulary.meaning(name)
        device_class = None if meaning is None else meaning.device_class
        listed = (name,) if device_class is None else (name, *_resources(device_class, likes.get(name, ""), vocabulary))
        yield _Need({name: listed} if device_class is None else {device_class: listed})
    for request in pod_set.requests:
        if request.route in (model.Route.CLAIM, model.Route.ACCESS) and request.name not in pod_set.accelerators:
            found = {request.name: _resources(request.name, request.like, vocabulary)}
            yield _Need({**{other: _resources(other, "", vocabulary) for other in request.instead}, **found})
        elif request.route in _ROUTES_OF_NVIDIA:
            yield _Need({request.name: _ROUTES_OF_NVIDIA[request.route]})


def _resources(device_class: str, like: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The resources of pools with the devices of a class, or of a resource with the same devices."""
    own = (CLAIM_PREFIX + device_class,)
    if "/" in like or "/" in device_class:
        return (*own, like or device_class)
    return (*own, *vocabulary.device_class_meaning(like or device_class).offered_as)


def _unmatched(need: _Need, pools: Sequence[config_pools.Pool]) -> Iterator[str]:
    """The device classes that usher cannot find among the pools by any resource."""
    for name, resources in need.alternatives.items():
        known = any(not resource.startswith(CLAIM_PREFIX) for resource in resources)
        if not known and not any(_lists(pool, resources) for pool in pools):
            yield name


def _offers(pool: config_pools.Pool, need: _Need) -> bool:
    return any(_lists(pool, resources) for resources in need.alternatives.values())


def _lists(pool: config_pools.Pool, resources: Sequence[str]) -> bool:
    return any(
        name.startswith(resource[:-1]) if resource.endswith("*") else name == resource
        for name in pool.resources
        for resource in resources
    )
