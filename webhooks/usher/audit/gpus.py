"""Converts accelerators to GPUs: whole devices, MIG devices by their share, time slices by their part.

Other accelerators (TPUs, Neuron devices, NPUs) count only by their own name. The share of a MIG device is its share of
compute or of memory, whichever is larger, so that a GPU that is divided in a usual way counts as one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from usher.accelerators import boards, mig, vocabulary
from usher.accelerators.names import Unit
from usher.audit.estate import Node, Pod
from usher.check.devices import WHOLE_GPUS, Devices

_SHARED: Final = "nvidia.com/gpu.shared"
_SLICES: Final = 7
"""Compute slices of most boards that MIG can divide."""


def number(devices: Devices, node: Node | None = None) -> float:
    """The number of GPUs behind the accelerators that pods request, rounded to 6 digits.

    Args:
        devices: the accelerators.
        node: their node. Without it, `nvidia.com/gpu` counts as a whole device, and a profile as on the largest board
            that has it.
    """
    total = sum((share(name, node) * Fraction(amount.number) for name, amount in devices.items()), start=Fraction())
    return round(float(total), 6)


def least(devices: Devices) -> float:
    """The GPUs that pods always request: without the pods that a rollout or an autoscaler adds for a time."""
    return number({name: replace(amount, number=amount.least, extra=0) for name, amount in devices.items()})


def others(devices: Devices, node: Node | None = None) -> Devices:
    """The accelerators that are not GPUs. The node as for `number`."""
    return {name: amount for name, amount in devices.items() if amount and not share(name, node)}


def numbers(devices: Devices) -> Mapping[str, float]:
    """Accelerators by resource, as JSON numbers."""
    return {name: round(float(amount.number), 6) for name, amount in sorted(devices.items())}


def capacity(node: Node) -> float:
    """The GPUs of a node, healthy or not."""
    return of_devices(node.capacity, node)


def allocatable(node: Node) -> float:
    """The GPUs of a node that pods can get."""
    return of_devices(node.allocatable, node)


def held(pods: Iterable[Pod], node: Node | None = None) -> float:
    """The GPUs that pods hold; `node` is their node, if known."""
    return round(sum(number(pod.devices, node) for pod in pods if pod.holds), 6)


def of_pods(pods: Iterable[Pod], nodes: Mapping[str, Node]) -> float:
    """The GPUs that pods hold, each by its node."""
    return round(sum(held([pod], nodes.get(pod.node)) for pod in pods), 6)


def of_devices(devices: Devices, node: Node) -> float:
    """The GPUs behind the devices that a node itself reports: it already counts each shared device once."""
    total = sum((_part(name, node.product) * Fraction(each.number) for name, each in devices.items()), start=Fraction())
    return round(float(total), 6)


def share(name: str, node: Node | None) -> Fraction:
    """The GPUs behind one unit of a resource that pods request; 0 for other accelerators. The node as for `number`."""
    if node is None:
        return _part(name, "")
    if name in ("nvidia.com/gpu", _SHARED):
        whole = _part(node.partition, node.product) if node.partition else Fraction(1)
        return whole / node.shared_by if name != _SHARED or node.shared_by > 1 else Fraction()
    return _part(name, node.product)


@lru_cache(maxsize=1024)
def _part(name: str, product: str) -> Fraction:
    if name in WHOLE_GPUS:
        return Fraction(1)
    advertised = mig.profile_of_resource(name)
    if advertised is not None:
        return Fraction() if advertised.shared else of_profile(advertised.profile, product)
    return Fraction(1 if _is_class_of_gpus(name) else 0)


def _is_class_of_gpus(name: str) -> bool:
    meaning = vocabulary.meaning_of_class(name)
    offered = {meaning.resource, *meaning.offered_as}
    return bool(meaning.accelerator) and meaning.unit is Unit.DEVICE and not WHOLE_GPUS.isdisjoint(offered)


def of_profile(profile: mig.Profile, product: str) -> Fraction:
    """The part of a GPU that a MIG profile is on the board of a product. An empty product means an unknown board."""
    known = boards.by_product(product) if product else None
    found = None if known is None else mig.share_of_instance(known.board, profile)
    if found is not None:
        return max(found.compute, found.memory)
    shares = filter(None, (mig.share_of_instance(board, profile) for board in boards.boards_with(profile)))
    parts = [max(each.compute, each.memory) for each in shares]
    # The same name can mean a larger part, on an older board with half the memory.
    return min(parts, default=min(Fraction(1), Fraction(profile.slices, _SLICES)))
