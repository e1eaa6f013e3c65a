"""Finds GPUs that could hold the MIG instances of a pod after another MIG division."""

from collections.abc import Iterable
from typing import Final

from usher.accelerators import boards, mig
from usher.authorities.nodes import obstacles
from usher.authorities.nodes.places import Place
from usher.authorities.nodes.pod_demand import PodDemand
from usher.dataclass import dataclass

_PRODUCT: Final = "nvidia.com/gpu.product"
_COUNT: Final = "nvidia.com/gpu.count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repartitioning:
    """GPUs of one node that would hold all MIG instances of a pod after another division."""

    place: str
    board: str
    gpus: int
    """How many GPUs of the node the pod takes."""
    per_node: int
    mix: str
    """The instances after the division: `3g.40gb + 4 x 1g.10gb`."""


def holding(demand: PodDemand, places: Iterable[Place]) -> Repartitioning | None:
    """The first place whose GPUs could hold all MIG instances of a pod after another division; None without one."""
    found = {name: mig.profile_of_resource(name) for name in demand.amounts}
    instances = {
        each.profile: demand.amounts[name] for name, each in found.items() if each is not None and not each.shared
    }
    if not instances:
        return None
    mix = " + ".join(f"{count} x {profile}" if count > 1 else str(profile) for profile, count in instances.items())
    for place in places:
        per_node = place.labels.get(_COUNT, "")
        product = boards.by_product(place.labels.get(_PRODUCT, ""))
        # With the strategy `single`, the label counts slices, not GPUs.
        if product is None or product.profile is not None or not per_node.isdecimal():
            continue
        needed = mig.gpus_needed(product.board, instances)
        if needed is None or not needed.exact or needed.at_least > int(per_node[:9]):
            continue
        if not obstacles.of_taints(demand, place):
            return Repartitioning(
                place=place.name,
                board=product.board.name,
                gpus=needed.at_least,
                per_node=int(per_node[:9]),
                mix=mix,
            )
    return None
