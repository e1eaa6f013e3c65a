"""Nodes with accelerators, as an audit sees them: what they report, what drivers offer for claims, and their labels.

Labels say the board of a node, the memory of a device, and how the node is paid for. Sources: NVIDIA/k8s-device-plugin
docs/gpu-feature-discovery/README.md and internal/lm (product, memory in MiB, replicas, sharing strategy);
ROCm/k8s-device-plugin cmd/k8s-node-labeller/README.md (amd.com/gpu.vram); Intel's rules for NFD
(gpu.intel.com/product); GKE, AKS, EKS, Karpenter, CoreWeave and OCI: their tables of node labels.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from usher import errors, paths, quantities
from usher.accelerators import boards, mig
from usher.accelerators import vocabulary as accelerators_vocabulary
from usher.accelerators.names import GIB, MIB
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import CapacityType, Node
from usher.check.devices import Amount, Devices

Labels = Mapping[str, str]

_PRODUCTS: Final = (
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "gpu.intel.com/product",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.azure.com/sku-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-name",
    "k8s.amazonaws.com/accelerator",
    "aws.amazon.com/neuron.instance-type",
)
"""Labels with the name of a board, those of operators before those of clouds; NVIDIA's own comes before all."""

_MEBIBYTES: Final = ("nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory")
_GIBIBYTES: Final = ("gpu.nvidia.com/vram",)
_WITH_UNIT: Final = ("amd.com/gpu.vram", "beta.amd.com/gpu.vram")
_SIZE: Final = re.compile(r"(?P<number>[0-9]{1,7})(?P<unit>[MG])i?B?", re.ASCII)

_NAMED_TYPES: Final[Mapping[str, Mapping[str, CapacityType]]] = {
    "karpenter.sh/capacity-type": {
        "on-demand": CapacityType.ON_DEMAND,
        "spot": CapacityType.SPOT,
        "reserved": CapacityType.RESERVED,
    },
    "eks.amazonaws.com/capacityType": {
        "ON_DEMAND": CapacityType.ON_DEMAND,
        "SPOT": CapacityType.SPOT,
        "CAPACITY_BLOCK": CapacityType.RESERVED,
    },
    "cloud.google.com/gke-provisioning": {
        "standard": CapacityType.ON_DEMAND,
        "spot": CapacityType.SPOT,
        "preemptible": CapacityType.SPOT,
        "reservation": CapacityType.RESERVED,
    },
    "cloud.google.com/gke-spot": {"true": CapacityType.SPOT},
    "cloud.google.com/gke-preemptible": {"true": CapacityType.SPOT},
    "kubernetes.azure.com/scalesetpriority": {"spot": CapacityType.SPOT, "regular": CapacityType.ON_DEMAND},
    "oci.oraclecloud.com/oke-is-preemptible": {"true": CapacityType.SPOT},
    "node.kubernetes.io/lifecycle": {"spot": CapacityType.SPOT, "on-demand": CapacityType.ON_DEMAND},
}
"""Labels whose values name it; the first that a node has with a known value decides."""

_RESERVED: Final = ("cloud.google.com/reservation-name", "node.coreweave.cloud/reserved")
"""Labels that a node has because it comes from a reservation, whatever their value, but for `false`."""

_OTHERWISE_ON_DEMAND: Final = ("cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
"""Labels of clouds that mark each node that is not on demand; the rest are on demand."""

_MOST_SHARED: Final = 1000
"""Replicas of a device; more are an error in the label."""


def read_product(labels: Labels) -> str:
    """The board, without the suffixes for sharing and MIG; empty where no label names it."""
    found = labels.get(boards.PRODUCT_LABEL, "")
    if found:
        return found.removesuffix("-SHARED").partition("-MIG-")[0]
    return next((labels[key] for key in _PRODUCTS if labels.get(key)), "")


def read_memory(labels: Labels) -> int | None:
    """Bytes of memory of each device; None where no label says it."""
    return next(_memories(labels), None)


def _memories(labels: Labels) -> Iterator[int]:
    for keys, unit in ((_MEBIBYTES, MIB), (_GIBIBYTES, GIB)):
        for key in keys:
            number = _whole_number(labels.get(key, ""))
            if number:
                yield number * unit
    for key in _WITH_UNIT:
        match = _SIZE.fullmatch(labels.get(key, ""))
        if match is not None and int(match["number"]):
            yield int(match["number"]) * (GIB if match["unit"] == "G" else MIB)


def read_capacity_type(labels: Labels) -> CapacityType:
    """How the node is paid for."""
    if any(labels.get(key, "false") != "false" for key in _RESERVED):
        return CapacityType.RESERVED
    for key, values in _NAMED_TYPES.items():
        if labels.get(key) in values:
            return values[labels[key]]
    return CapacityType.ON_DEMAND if any(key in labels for key in _OTHERWISE_ON_DEMAND) else CapacityType.UNKNOWN


def read_shared_by(labels: Labels) -> int:
    """How many pods may share one device; 1 where each has one pod."""
    if labels.get("cloud.google.com/gke-gpu-sharing-strategy"):
        return _replicas(labels.get("cloud.google.com/gke-max-shared-clients-per-gpu", ""))
    if labels.get("nvidia.com/gpu.sharing-strategy") == "none":
        return 1
    return _replicas(labels.get("nvidia.com/gpu.replicas", ""))


def read_partition(labels: Labels) -> str:
    """The resource of the MIG profile that `nvidia.com/gpu` counts there; empty where it counts whole devices."""
    layout = labels.get(boards.PRODUCT_LABEL, "").removesuffix("-SHARED").partition("-MIG-")[2]
    profile = mig.parse_profile(layout or labels.get("cloud.google.com/gke-gpu-partition-size", ""))
    return "" if profile is None else profile.resource


def _replicas(value: str) -> int:
    number = _whole_number(value)
    return number if 1 <= number <= _MOST_SHARED else 1


def _whole_number(value: str) -> int:
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 9 else 0


class Claimable:
    """Counts whole devices: a driver that divides them offers each part beside the whole."""

    def __init__(self) -> None:
        self._names: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        """Names of devices by node and device class; a pool may have several slices."""

    def add(self, value: paths.Object) -> None:
        spec = fields.mapping(value.get("spec"))
        driver, node = paths.text(spec.get("driver")), paths.text(spec.get("nodeName"))
        name = accelerators_vocabulary.class_of_driver(driver)
        if name and node:
            pool = paths.text(fields.mapping(spec.get("pool")).get("name"))
            self._names[node][name].update(f"{pool}/{device}" for device in _whole_devices(spec.get("devices")))

    def of(self, node: str) -> Devices:
        """The devices of a node, by device class; empty where no driver offers one."""
        found: Mapping[str, set[str]] = self._names.get(node, {})
        return {name: Amount(number=len(devices)) for name, devices in sorted(found.items()) if devices}

    def __bool__(self) -> bool:
        return bool(self._names)


def _whole_devices(devices: paths.Json) -> Iterator[str]:
    for each in fields.mappings(devices):
        # v1beta1 has the attributes below `basic`.
        about = fields.mapping(each.get("basic")) or each
        kind = fields.mapping(fields.mapping(about.get("attributes")).get("type")).get("string", "gpu")
        if kind == "gpu":
            yield paths.text(each.get("name"))


_GPU: Final = "nvidia.com/gpu"
_SHARED: Final = "nvidia.com/gpu.shared"
"""The device plugin's name for replicas, where it renames them."""

_SYSTEM: Final = (
    "architecture",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeletVersion",
    "operatingSystem",
    "osImage",
)


def read_node(value: paths.Object, vocabulary: Vocabulary, *, claimable: Devices | None = None) -> Node | None:
    """A node; None for one without accelerators.

    Args:
        value: the Node.
        vocabulary: which resources are accelerators.
        claimable: the devices that drivers offer there for claims, by device class. They count where the node reports
            no accelerator by a resource, because a device that is offered by both ways would count twice.
    """
    metadata, status = paths.metadata(value), fields.mapping(value.get("status"))
    labels = fields.text_entries(metadata.get("labels"))
    shared_by, partition = read_shared_by(labels), read_partition(labels)
    capacity = _devices(status.get("capacity"), vocabulary, shared_by=shared_by, partition=partition)
    allocatable = _devices(status.get("allocatable"), vocabulary, shared_by=shared_by, partition=partition)
    if not any(capacity.values()) and not any(allocatable.values()):
        if not claimable:
            return None
        capacity = allocatable = claimable
    spec = fields.mapping(value.get("spec"))
    system = fields.text_entries(status.get("nodeInfo"))
    return Node(
        name=paths.text(metadata.get("name")),
        labels=labels,
        # Dumps without `capacity` still say what pods may get.
        capacity=capacity or allocatable,
        allocatable=allocatable,
        product=read_product(labels),
        capacity_type=read_capacity_type(labels),
        memory=read_memory(labels),
        shared_by=shared_by,
        partition=partition,
        ready=_ready(status),
        cordoned=spec.get("unschedulable") is True,
        created=fields.time_of(metadata.get("creationTimestamp")),
        taints=tuple(
            (paths.text(each.get("key")), paths.text(each.get("value")), paths.text(each.get("effect")))
            for each in fields.mappings(spec.get("taints"))
        ),
        system={key: system[key] for key in _SYSTEM if key in system},
    )


def trimmed_node(value: paths.Object) -> paths.Object:
    """The fields of a Node that `read_node` reads, but for its many images and addresses."""
    status = fields.mapping(value.get("status"))
    metadata = paths.metadata(value)
    return {
        "metadata": {key: metadata[key] for key in ("name", "labels", "creationTimestamp") if key in metadata},
        "spec": value.get("spec"),
        "status": {key: status[key] for key in ("conditions", "nodeInfo") if key in status},
    }


def _ready(status: paths.Object) -> bool:
    """A node whose conditions are not known counts as ready: facts of a snapshot keep no conditions."""
    conditions = {each.get("type"): each.get("status") for each in fields.mappings(status.get("conditions"))}
    return conditions.get("Ready", "True") == "True"


def _devices(value: paths.Json, vocabulary: Vocabulary, *, shared_by: int, partition: str) -> Devices:
    found: dict[str, Amount] = {}
    for resource, reported in _numbers(value, vocabulary).items():
        replicated = resource in (_GPU, _SHARED)
        name, number = (partition or _GPU, reported // shared_by) if replicated else (resource, reported)
        found[name] = found.get(name, Amount()) + Amount(number=number)
    return dict(sorted(found.items()))


def _numbers(value: paths.Json, vocabulary: Vocabulary) -> Mapping[str, int]:
    return {
        name: number
        for name, amount in fields.mapping(value).items()
        if vocabulary.contains(name) and (number := _whole_quantity(amount)) is not None
    }


def _whole_quantity(amount: paths.Json) -> int | None:
    try:
        return max(0, quantities.parse(amount).value)
    except errors.QuantityError:
        return None
