"""Reads nodes with accelerators for an audit."""

from collections.abc import Mapping
from typing import Final

from usher import errors, paths, quantities
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.building import fields, node_labels
from usher.audit.estate import Node
from usher.check.devices import Amount, Devices

_GPU: Final = "nvidia.com/gpu"
_SHARED: Final = "nvidia.com/gpu.shared"
"""The device plugin's name for replicas if it renames them."""

_SYSTEM: Final = (
    "architecture",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeletVersion",
    "operatingSystem",
    "osImage",
)


def read(value: paths.Object, vocabulary: Vocabulary, *, claimable: Devices | None = None) -> Node | None:
    """A node; None for a node without accelerators.

    Args:
        value: the Node.
        vocabulary: which resources are accelerators.
        claimable: the devices that drivers offer on it for claims, by device class. They count only if the node reports
            no accelerator as a resource; else a device offered in both ways would count twice.
    """
    metadata, status = paths.metadata(value), fields.mapping(value.get("status"))
    labels = fields.texts(metadata.get("labels"))
    shared_by, partition = node_labels.shared_by(labels), node_labels.partition(labels)
    capacity = _devices(status.get("capacity"), vocabulary, shared_by=shared_by, partition=partition)
    allocatable = _devices(status.get("allocatable"), vocabulary, shared_by=shared_by, partition=partition)
    if not any(capacity.values()) and not any(allocatable.values()):
        if not claimable:
            return None
        capacity = allocatable = claimable
    spec = fields.mapping(value.get("spec"))
    system = fields.texts(status.get("nodeInfo"))
    return Node(
        name=paths.text(metadata.get("name")),
        labels=labels,
        # Dumps without `capacity` still have what pods may get.
        capacity=capacity or allocatable,
        allocatable=allocatable,
        product=node_labels.product(labels),
        capacity_type=node_labels.capacity_type(labels),
        memory=node_labels.memory(labels),
        shared_by=shared_by,
        partition=partition,
        ready=_ready(status),
        cordoned=spec.get("unschedulable") is True,
        created=fields.time(metadata.get("creationTimestamp")),
        taints=tuple(
            (paths.text(each.get("key")), paths.text(each.get("value")), paths.text(each.get("effect")))
            for each in fields.mappings(spec.get("taints"))
        ),
        system={key: system[key] for key in _SYSTEM if key in system},
    )


def trimmed(value: paths.Object) -> paths.Object:
    """The fields of a Node that `read` reads, without its many images and addresses."""
    status = fields.mapping(value.get("status"))
    metadata = paths.metadata(value)
    return {
        "metadata": {key: metadata[key] for key in ("name", "labels", "creationTimestamp") if key in metadata},
        "spec": value.get("spec"),
        "status": {key: status[key] for key in ("conditions", "nodeInfo") if key in status},
    }


def _ready(status: paths.Object) -> bool:
    """Whether a node is ready. Facts of a snapshot keep no conditions: then it counts as ready."""
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
        if vocabulary.contains(name) and (number := _whole(amount)) is not None
    }


def _whole(amount: paths.Json) -> int | None:
    try:
        return max(0, quantities.parse(amount).value)
    except errors.QuantityError:
        return None
