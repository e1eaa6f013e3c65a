"""The share of a GPU that a device or a resource is: 1 for a whole GPU, the compute slices of a MIG profile, ..."""

import re
from collections.abc import Mapping
from typing import Final

from usher.accelerators import boards, profiles
from usher.audit import estate
from usher.scan.devices import WHOLE_GPUS

_MOST_SLICES: Final = 7
"""Of all boards with MIG; those with four slices are known by their products."""

_SHARES: Final = re.compile(r"shares of (?P<whole>.*)|(?P<shared>.*)\.shared", re.DOTALL)

_RESOURCES: Final = {
    "nvidia_com_gpu": "nvidia.com/gpu",
    "nvidia_com_gpu_shared": "nvidia.com/gpu.shared",
    "amd_com_gpu": "amd.com/gpu",
    "intel_com_gpu": "intel.com/gpu",
    "gpu_intel_com_i915": "gpu.intel.com/i915",
    "gpu_intel_com_xe": "gpu.intel.com/xe",
}
_MIG: Final = re.compile(r"nvidia_com_mig_(?P<slices>\dg)_(?P<size>\d+gb)(?P<variant>(?:_me|_me_all|_gfx|__me)?)")


def resource(name: str) -> str:
    """The resource that kube-state-metrics calls by that name; the name itself where it is unknown."""
    match = _MIG.fullmatch(name)
    if match is None:
        return _RESOURCES.get(name, name)
    variant = {"": "", "_me": ".me", "_me_all": ".me.all", "_gfx": ".gfx", "__me": "-me"}[match["variant"]]
    return f"{profiles.RESOURCE_PREFIX}{match['slices']}.{match['size']}{variant}"


def of_profile(text: str, product: str) -> float | None:
    """The share of a GPU that a MIG profile is: its compute slices by those of the board; None for no profile.

    1g.10gb of an H100 with 80 GB is 1/7.
    """
    profile = profiles.parse(text)
    if profile is None:
        return None
    known = boards.by_product(product)
    candidates = [known.board] if known is not None else [*boards.boards_with(profile)]
    found = {
        offer.shape.compute / board.compute_slices
        for board in candidates
        if (offer := board.offer(profile)) is not None
    }
    return found.pop() if len(found) == 1 else min(profile.slices / _MOST_SLICES, 1.0)


def of_resource(name: str, node: estate.Node | None) -> float | None:
    """The share of a GPU that one unit of a resource is on a node; None where it is no part of a GPU, or not known."""
    advertised = profiles.of_resource(name)
    if advertised is not None and not advertised.shared:
        return of_profile(str(advertised.profile), node.product if node else "")
    if name in WHOLE_GPUS:
        return of_whole(node)
    if (match := _SHARES.fullmatch(name)) is None:
        return None
    replicas = _replicas(node)
    if advertised is None and (match["whole"] or match["shared"]) not in WHOLE_GPUS:
        return None
    whole = 1.0 if advertised is None else of_profile(str(advertised.profile), node.product if node else "")
    return None if replicas is None or whole is None else whole / replicas


def of_whole(node: estate.Node | None) -> float:
    """The share that a resource named like a whole GPU is: less where the node divides or shares its GPUs."""
    if node is None:
        return 1.0
    _, divided, layout = node.product.removesuffix("-SHARED").partition("-MIG-")
    share = of_profile(layout, node.product) if divided else None
    replicas = _replicas(node) if node.labels.get("nvidia.com/gpu.sharing-strategy", "none") != "none" else None
    return (share or 1.0) / (replicas or 1)


def gpus(node: estate.Node) -> float:
    """The GPUs of a node, by its capacity: whole ones, and MIG devices by their share."""
    found = of_devices({name: float(amount.number) for name, amount in node.capacity.items()}, node)
    return found or 0.0


def of_devices(devices: Mapping[str, float], node: estate.Node | None) -> float | None:
    """How many GPUs amounts of resources are; None where none of them is a part of a GPU."""
    parts = [amount * share for name, amount in devices.items() if (share := of_resource(name, node)) is not None]
    return sum(parts) if parts else None


def board_of(product: str) -> str:
    """The product of the whole board: without what MIG and sharing add to the label."""
    return product.removesuffix("-SHARED").partition("-MIG-")[0]


def _replicas(node: estate.Node | None) -> int | None:
    text = node.labels.get("nvidia.com/gpu.replicas", "") if node else ""
    return int(text) if text.isascii() and text.isdecimal() and int(text[:6]) > 0 else None
