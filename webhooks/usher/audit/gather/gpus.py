"""How many GPUs stand behind accelerators, where they are now, and what one of them costs in an hour.

Whole devices count as one, MIG devices and partitions of AMD by their share, time slices by their part, shares of a
claimed device by their memory, and parts by memory and cores (HAMi, Volcano, KAI-Scheduler) by the larger of the two.
Other accelerators (TPUs, Neuron devices, NPUs) are not GPUs; they count by their own name alone. The share of a MIG
device is the larger one of its shares of compute and memory, so that a GPU that is divided in the usual ways counts as
one.
"""

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final

from msgspec import Struct

from usher import paths
from usher.accelerators import boards, mig, names, vocabulary
from usher.accelerators.mig import Board
from usher.accelerators.names import PARTS, WHOLE_GPUS, Known, Unit
from usher.audit.gather import estate, object_fields
from usher.audit.gather.estate import Estate, Node, Pod, Workload
from usher.check.devices import SHARES, SLICES, Amount, Devices
from usher.config import selection
from usher.config.models import PriceRule, Prices
from usher.workloads.pod_sets import MEMORY_OF

WHOLE_GPU: Final = "nvidia.com/gpu"
_SHARED: Final = "nvidia.com/gpu.shared"
_VIRTUAL: Final = "volcano.sh/vgpu-number"
_PARTS: Final = {f"{SHARES}{name}": name for name in sorted(WHOLE_GPUS)} | {_VIRTUAL: _VIRTUAL}
"""Accelerators whose parts pods get by memory and cores, with the resource that these divide."""
_SLICES: Final = 7
"""Compute slices of most boards that MIG can divide."""


def number(devices: Devices, node: Node | None = None) -> float:
    """The number of GPUs behind the accelerators that pods request, rounded to 6 digits.

    Args:
        node: the node of the devices. Without it, `nvidia.com/gpu` counts as a whole device, and a profile as on the
            largest board that has it.
    """
    return round(float(exact_number(devices, node)), 6)


def exact_number(devices: Devices, node: Node | None = None) -> Fraction:
    """As `number`, not rounded: for hours, which add up."""
    return sum((part for _, part in _counted_parts(devices, node)), start=Fraction())


def _counted_parts(devices: Devices, node: Node | None) -> Iterator[tuple[str, Fraction]]:
    """The GPUs behind accelerators, by their names. Parts of boards count under the name of these, and are 0 then.

    HAMi and Volcano give of each board the larger of its memory and its cores. A pod that names no memory gets all of
    it (HAMi:pkg/device/nvidia/device.go GenerateResourceRequests).
    """
    together = {name: _parts_of(counted, devices) for counted, name in _PARTS.items() if counted in devices}
    for name, amount in devices.items():
        parts = together.get(_PARTS.get(name, ""), [])
        memory = devices.get(f"{MEMORY_OF}{name.removeprefix(SHARES)}") if name.startswith(SHARES) else None
        if memory is not None:
            of_board = 0 if node is None else node.memory
            shares = Fraction(amount.number)
            yield name, min(shares, Fraction(memory.number) * names.MIB / of_board) if of_board else shares
        elif name.startswith(MEMORY_OF) or (name in PARTS and PARTS[name].divides in together):
            yield name, Fraction()
        elif parts or name == _VIRTUAL:
            number_of_boards = Fraction(amount.number)
            taken = [_boards_behind(part, number, node) for part, number in parts]
            names_memory = any(part.unit is not Unit.CORES for part, _ in parts)
            known = names_memory and all(each is not None for each in taken)
            held = max(filter(None, taken), default=Fraction()) if known else number_of_boards
            yield name, min(number_of_boards, held)
        elif part := share(name, node):
            yield name, part * Fraction(amount.number)


def _parts_of(counted: str, devices: Devices) -> list[tuple[Known, Fraction]]:
    """The memory and the cores of the boards that a resource counts."""
    named = [(PARTS[name], Fraction(amount.number)) for name, amount in devices.items() if name in PARTS]
    return [(part, number) for part, number in named if part.divides == _PARTS[counted]]


def _boards_behind(part: Known, amount: Fraction, node: Node | None) -> Fraction | None:
    """The boards behind an amount of memory or cores; None for memory of a board of unknown size."""
    if part.unit is not Unit.MEMORY:
        return amount / (part.size or 1)
    memory = None if node is None else node.memory
    return None if not memory else amount * (part.size or 1) / memory


def node_of(workload: Workload, nodes: Mapping[str, Node]) -> Node | None:
    """The node by which to count what a workload asks for: that of its first pod that has one; None without one."""
    return next((nodes[pod.node] for pod in workload.pods if pod.node in nodes), None)


def least(devices: Devices, node: Node | None = None) -> float:
    """The GPUs that pods always request: without the pods that a rollout or an autoscaler adds for a time."""
    always = {name: dataclasses.replace(amount, number=amount.least, extra=0) for name, amount in devices.items()}
    return number(always, node)


def others(devices: Devices, node: Node | None = None) -> Devices:
    """The accelerators that are not GPUs. The node as for `number`."""
    counted = {name for name, _ in _counted_parts(devices, node)}
    return {name: amount for name, amount in devices.items() if amount and name not in counted}


def numbers(devices: Devices) -> Mapping[str, float]:
    """Accelerators by resource, as JSON numbers."""
    return {name: round(float(amount.number), 6) for name, amount in sorted(devices.items())}


def capacity_of(node: Node) -> float:
    """The GPUs of a node, healthy or not."""
    return of_devices(node.capacity, node)


def allocatable_of(node: Node) -> float:
    """The GPUs of a node that pods can get."""
    return of_devices(node.allocatable, node)


def held_by(pods: Iterable[Pod], node: Node | None = None) -> float:
    """The GPUs that pods hold; `node` is their node, if known."""
    return round(sum(number(pod.devices, node) for pod in pods if pod.holds), 6)


def of_pods(pods: Iterable[Pod], nodes: Mapping[str, Node]) -> float:
    """The GPUs that pods hold, each by its node."""
    return round(sum(held_by([pod], nodes.get(pod.node)) for pod in pods), 6)


def of_devices(devices: Devices, node: Node) -> float:
    """The GPUs behind the devices that a node itself reports: it already counts each shared device once."""
    total = sum((_part(name, node.product) * Fraction(each.number) for name, each in devices.items()), start=Fraction())
    return round(float(total), 6)


def share(name: str, node: Node | None) -> Fraction:
    """The GPUs behind one unit of a resource that pods request; 0 for other accelerators. The node as for `number`."""
    if name == names.GPU_MEMORY:
        return Fraction(names.MIB, node.memory) if node is not None and node.memory else Fraction()
    if node is None:
        return _part(name, "")
    offered = name.removeprefix(SHARES).removeprefix(SLICES)
    if offered in (WHOLE_GPU, _SHARED, "amd.com/gpu"):
        size = _part(node.partition, node.product) if node.partition else Fraction(1)
        is_share = name == _SHARED or name.startswith(SHARES)
        return size / node.shared_by if not is_share or node.shared_by > 1 else Fraction()
    return _part(name, node.product)


@lru_cache(maxsize=1024)
def _part(name: str, product: str) -> Fraction:
    if name in WHOLE_GPUS or name == names.GPU_FRACTION:
        return Fraction(1)
    of_amd = boards.amd_partitions(name, product)
    if of_amd:
        return Fraction(1, of_amd)
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


class NodeSplit(Struct, frozen=True, kw_only=True):
    """The GPUs of one node, or its accelerators of another resource."""

    node: Node
    capacity: float
    usable: float
    """Allocatable; 0 on a node that is cordoned or not ready."""
    free: float
    """Usable and not held by a pod."""
    out_of_use: float
    """Pods cannot get them: not held, on a node that is cordoned or not ready, or not allocatable."""


def has_gpus(estate: Estate) -> bool:
    """Whether a node has GPUs; true if the nodes are unknown."""
    return estate.nodes is None or any(capacity_of(node) for node in estate.nodes)


def splits_of_nodes(estate: Estate) -> tuple[NodeSplit, ...] | None:
    """The GPUs of all nodes, split by use; None if the nodes are unknown."""
    if estate.nodes is None:
        return None
    held = defaultdict[str, float](float)
    nodes = {node.name: node for node in estate.nodes}
    for workload in estate.workloads:
        for pod in workload.pods:
            if pod.node in nodes:
                held[pod.node] += held_by([pod], nodes[pod.node])
    return tuple(
        split_of_node(node, capacity=capacity_of(node), allocatable=allocatable_of(node), held=held[node.name])
        for node in estate.nodes
    )


def split_of_node(node: Node, *, capacity: float, allocatable: float, held: float) -> NodeSplit:
    """The split of a node's accelerators, from its capacity, its allocatable number and the number that pods hold."""
    usable = allocatable if node.ready and not node.cordoned else 0.0
    free = max(0.0, usable - held)
    return NodeSplit(
        node=node, capacity=capacity, usable=usable, free=free, out_of_use=max(0.0, capacity - held - free)
    )


class Offer(Struct, frozen=True, kw_only=True):
    """The devices of one resource on one node."""

    node: estate.Node
    resource: str
    """The resource; a MIG device has the name of its profile even if pods request it as a whole GPU (strategy
    `single`).
    """
    devices: int
    free: int


class Offers(Struct, frozen=True, kw_only=True):
    all: tuple[Offer, ...]
    free_known: bool = True
    """Whether usher read all pods, so that `free` is reliable."""

    def of(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """The offers of a resource on nodes with this board, by the name of the node."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is board)

    def elsewhere(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """The offers of a resource on nodes with other boards."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is not board)


def device_offers(found: estate.Estate) -> Offers:
    """The offers of the nodes. If the pods of others were not read, no device counts as free."""
    known = found.scope.is_whole and found.pods_known
    held: dict[str, Counter[str]] = {}
    for workload in found.workloads:
        for pod in workload.pods:
            if pod.holds:
                numbers = {name: int(amount.number) for name, amount in pod.devices.items()}
                held.setdefault(pod.node, Counter()).update(numbers)
    offered = [
        offer
        for node in found.nodes or ()
        if node.ready and not node.cordoned and node.shared_by == 1
        for offer in _offers_of_node(node, held.get(node.name, {}) if known else None)
    ]
    ordered = sorted(offered, key=lambda each: (each.resource, each.node.name))
    return Offers(all=tuple(ordered), free_known=known)


def _offers_of_node(node: estate.Node, held: Mapping[str, int] | None) -> Iterable[Offer]:
    """The offers of one node; `held` is None if unknown."""
    for resource, amount in node.allocatable.items():
        asked_as = WHOLE_GPU if resource == node.partition else resource
        number = int(amount.number)
        if number > 0:
            free = 0 if held is None else max(0, number - held.get(asked_as, 0))
            yield Offer(node=node, resource=resource, devices=number, free=free)


def board_of(node: estate.Node) -> Board | None:
    """The board of a node; None if it is unknown, or if MIG cannot divide it."""
    known = boards.by_product(node.product)
    return known.board if known is not None else None


_INSTANCE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


class NodeType(Struct, frozen=True, kw_only=True):
    """The properties that decide a price. For a node that is gone only the board is known."""

    product: str
    capacity_type: estate.CapacityType = estate.CapacityType.UNKNOWN
    instance_type: str = ""
    gpus: int = 0
    """GPUs of the node; 0 if unknown."""


def node_type_of(node: estate.Node) -> NodeType:
    instance = next((node.labels[key] for key in _INSTANCE_LABELS if key in node.labels), "")
    return NodeType(
        product=node.product,
        capacity_type=node.capacity_type,
        instance_type=instance,
        # MIG may leave a part of a GPU unused. The price of the node covers this part too.
        gpus=math.ceil(capacity_of(node) - 1e-6),
    )


def price_per_hour(prices: Prices, node_type: NodeType) -> float | None:
    """The price of one whole GPU for an hour, from the first rule that matches; None if no rule does.

    A price per node is multiplied by gpuShare and divided by the GPUs of the node.
    """
    place = deciding_rule(prices, node_type)
    if place is None:
        return None
    rule = prices.rules[place]
    return rule.per_gpu_hour if rule.per_node_hour is None else rule.per_node_hour * prices.gpu_share / node_type.gpus


def deciding_rule(prices: Prices, node_type: NodeType) -> int | None:
    """The index of the rule that gives the price. A price per node needs the number of its GPUs."""
    for place, rule in enumerate(prices.rules):
        if rule_matches(rule, node_type) and (rule.per_gpu_hour is not None or node_type.gpus):
            return place
    return None


def rule_matches(rule: PriceRule, node_type: NodeType) -> bool:
    """Whether a rule matches a node. Products match in any case, because clouds and drivers spell them differently."""
    return (
        selection.glob_fits(node_type.product.casefold(), rule.product.casefold())
        and selection.glob_fits(node_type.instance_type, rule.instance_type)
        and rule.capacity_type in {"*", node_type.capacity_type.value}
    )


def price_problems(prices: Prices, seen: Iterable[NodeType]) -> Iterator[str]:
    """Rules that match nothing in the cluster, and boards without a price."""
    known = sorted(set(seen), key=lambda each: (each.product, each.capacity_type, each.instance_type))
    if not known:
        return
    if not prices.rules:
        yield "audit.prices of usher.yaml has no rules, so GPU-hours are not priced"
        return
    for index, rule in enumerate(prices.rules):
        if not any(rule_matches(rule, node_type) for node_type in known):
            products = ", ".join(sorted({each.product for each in known if each.product})) or "of no known product"
            yield (
                f"audit.prices.rules[{index}] matches no node (product {rule.product}, instance type "
                f"{rule.instance_type}, capacity type {rule.capacity_type}). The GPUs are {products}"
            )
    missing = [each for each in known if price_per_hour(prices, each) is None]
    if missing:
        names = sorted({f"{each.product or 'GPUs of unknown product'} ({each.capacity_type})" for each in missing})
        yield f"audit.prices has no price for {', '.join(names)}: these GPU-hours count as not priced"


class Claimable:
    """Counts whole devices. A driver that divides a device offers its parts in addition to the whole."""

    def __init__(self) -> None:
        self._names: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        """Names of devices by node and device class; a pool may have several slices."""
        self._memories: defaultdict[str, set[int]] = defaultdict(set)
        """The memory of these devices in bytes by node; 0 for one that its driver does not say."""

    def add(self, value: paths.Object) -> None:
        spec = paths.mapping(value.get("spec"))
        driver, node = paths.text(spec.get("driver")), paths.text(spec.get("nodeName"))
        name = vocabulary.class_of_driver(driver)
        if name and node:
            pool = paths.text(paths.mapping(spec.get("pool")).get("name"))
            for each, about in _whole_devices(spec.get("devices")):
                self._names[node][name].add(f"{pool}/{each}")
                memory = paths.mapping(about.get("capacity")).get("memory")
                size = object_fields.whole_quantity(
                    paths.mapping(memory).get("value") if isinstance(memory, dict) else memory
                )
                self._memories[node].add(size or 0)

    def of(self, node: str) -> Devices:
        """The devices of a node, by device class; empty if no driver offers any."""
        found: Mapping[str, set[str]] = self._names.get(node, {})
        return {name: Amount(number=len(devices)) for name, devices in sorted(found.items()) if devices}

    def memory(self, node: str) -> int | None:
        """The memory of its smallest device in bytes; None if the memory of a device is unknown."""
        return min(self._memories.get(node, ()), default=0) or None

    def __bool__(self) -> bool:
        return bool(self._names)


def _whole_devices(devices: paths.Json) -> Iterator[tuple[str, paths.Object]]:
    for each in object_fields.mappings(devices):
        # v1beta1 has the attributes below `basic`.
        about = paths.mapping(each.get("basic")) or each
        kind = paths.mapping(paths.mapping(about.get("attributes")).get("type")).get("string", "gpu")
        if kind in ("gpu", "amdgpu"):  # NVIDIA and AMD (ROCm/k8s-gpu-dra-driver)
            yield paths.text(each.get("name")), about
