"""Nodes, the binding of pods to them, and the classes of their container runtimes."""

from typing import Annotated, Final, NotRequired

from pydantic import BeforeValidator, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.accelerators import names
from usher.kinds.kept_fields import keeping
from usher.kinds.kind import Facts, Kind
from usher.reading.shapes import STRICT, Quantity

_LABELS: Final = ("nvidia.com/", "amd.com/", "gpu.intel.com/")
"""Prefixes of the labels in which operators describe the accelerators of a node."""


def _of_accelerators(labels: object) -> object:
    if not isinstance(labels, dict):
        return labels
    return {key: value for key, value in labels.items() if isinstance(key, str) and key.startswith(_LABELS)}


def _accelerators(resources: object) -> object:
    if not isinstance(resources, dict):
        return resources
    return {name: amount for name, amount in resources.items() if isinstance(name, str) and _is_accelerator(name)}


def _is_accelerator(name: str) -> bool:
    meaning = names.meaning_of(name)
    return meaning is not None and meaning.unit in names.GIVING


@with_config(STRICT)
class NodeMetadata(TypedDict):
    labels: NotRequired[Annotated[dict[str, str], BeforeValidator(_of_accelerators)]]
    """Only those that tell of accelerators."""


@with_config(STRICT)
class NodeTaint(TypedDict):
    key: NotRequired[str]
    value: NotRequired[str]
    effect: NotRequired[str]


@with_config(STRICT)
class NodeSpec(TypedDict):
    taints: NotRequired[list[NodeTaint]]


@with_config(STRICT)
class NodeStatus(TypedDict):
    capacity: NotRequired[Annotated[dict[str, Quantity], BeforeValidator(_accelerators)]]
    """Only accelerators, healthy or not, of those names that are known without usher.yaml."""


@with_config(STRICT)
class Node(TypedDict):
    metadata: NotRequired[NodeMetadata]
    spec: NotRequired[NodeSpec]
    status: NotRequired[NodeStatus]


@with_config(STRICT)
class BindingTarget(TypedDict):
    name: NotRequired[str]


@with_config(STRICT)
class Binding(TypedDict):
    target: NotRequired[BindingTarget]


KINDS = [
    Kind(
        group="",
        kind="Node",
        versions=("v1",),
        plural="nodes",
        cluster_scoped=True,
        key="node",
        shape=Node,
        facts=Facts(
            keep=keeping("/spec/taints", "/spec/unschedulable", "/status/allocatable", "/status/capacity"),
            changes_often=True,
        ),
    ),
    Kind(
        group="",
        kind="Binding",
        versions=("v1",),
        plural="bindings",
        key="binding",
        shape=Binding,
        listed=False,
        own_webhook=True,
    ),
    Kind(
        group="node.k8s.io",
        kind="RuntimeClass",
        versions=("v1",),
        plural="runtimeclasses",
        cluster_scoped=True,
        facts=Facts(keep=keeping("/handler", "/overhead", "/scheduling")),
    ),
]
