"""GPU-hours by pod and node, each with its owner and its price. All tables are sums of these entries."""

from collections.abc import Callable, Iterable, Mapping

from usher.accelerators import mig
from usher.audit import estate, gpus
from usher.audit.usage import accounting, merging, prices
from usher.audit.usage.accounting import HeldDevice, Idle, Place
from usher.audit.usage.attribution import Attribution, Owner
from usher.audit.usage.devices import Track
from usher.audit.usage.labels import PodName
from usher.audit.usage.merging import EMPTY, Line
from usher.audit.usage.prices import NodeType
from usher.audit.usage.series import Grid
from usher.audit.usage.tallies import Tally
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The GPU-hours of one pod on one node."""

    place: Place
    owner: Owner
    tally: Tally
    node_type: NodeType
    """The board, and the payment type of its node."""
    price: float | None
    """Price of a GPU for an hour; None if no rule sets one."""
    profile: str = ""
    """The MIG profile of its devices; empty for whole GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllDevices:
    """The measured devices of the cluster, held or not, in GPU-hours."""

    measured: float
    used: float


def entries(  # noqa: PLR0913 - all sources by name
    tracks: Iterable[Track],
    held: Mapping[tuple[PodName, str], Line],
    *,
    nodes: Mapping[str, estate.Node],
    attribution: Attribution,
    price: Callable[[NodeType], float | None],
    grid: Grid,
    idle: Idle,
) -> tuple[Entry, ...]:
    """The entries by pod and node."""
    homes = _homes(held)
    found: dict[Place, list[HeldDevice]] = {Place(*key): [] for key in held}
    for device in accounting.held_devices(tracks, lambda track: share(track, nodes)):
        pod = device.track.holder
        if pod is not None:
            place = Place(pod, device.track.node or homes.get(pod, ""))
            found.setdefault(place, []).append(device)
    result = []
    for place, devices in sorted(found.items()):
        tally = accounting.count(held.get((place.pod, place.node), EMPTY), devices, grid=grid, idle=idle)
        node_type = _node_type(nodes.get(place.node), devices)
        result.append(
            Entry(
                place=place,
                owner=attribution.owner(place.pod),
                tally=tally,
                node_type=node_type,
                price=price(node_type),
                profile=next((device.track.profile for device in devices if device.track.profile), ""),
            )
        )
    return tuple(result)


def share(track: Track, nodes: Mapping[str, estate.Node]) -> float | None:
    """The share of a GPU that the device of a track has; None if unknown."""
    if not track.device.instance:
        return 1.0
    node = nodes.get(track.node)
    profile = mig.parse_profile(track.profile)
    return None if profile is None else float(gpus.of_profile(profile, node.product if node else track.product))


def all_devices(tracks: Iterable[Track], nodes: Mapping[str, estate.Node], grid: Grid) -> AllDevices:
    """Each device counts once at each point, whether a pod holds it or not."""
    by_device: dict[object, list[Track]] = {}
    for track in tracks:
        by_device.setdefault(track.device, []).append(track)
    measured = used = 0.0
    for found in by_device.values():
        of_gpu = share(found[0], nodes) or 0.0
        first, end = min(each.activity.first for each in found), max(each.activity.end for each in found)
        for each in zip(*(merging.spread(track.activity, first, end) for track in found), strict=True):
            values = [value for value in each if value >= 0]
            if values:
                measured += of_gpu * grid.hours
                used += of_gpu * grid.hours * sum(values) / len(values)
    return AllDevices(measured=measured, used=used)


def _homes(held: Iterable[tuple[PodName, str]]) -> dict[PodName, str]:
    """The node of each pod that ran on only one node."""
    nodes: dict[PodName, set[str]] = {}
    for pod, node in held:
        nodes.setdefault(pod, set()).add(node)
    return {pod: next(iter(found)) for pod, found in nodes.items() if len(found) == 1}


def _node_type(node: estate.Node | None, devices: Iterable[HeldDevice]) -> NodeType:
    if node is not None:
        return prices.of_node(node)
    return NodeType(product=next((device.track.product for device in devices if device.track.product), ""))
