"""Nodes, the binding of pods to them, the classes of their container runtimes, and device claims (DRA).

Version v1beta1 has the fields of a request in the request itself; later versions have them in `exactly`.
"""

from typing import Annotated, Final, NotRequired

from pydantic import AfterValidator, BeforeValidator, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.accelerators import names, vocabulary
from usher.kinds.kind import KEEP_SPEC, Facts, Kind, keeping
from usher.kinds.reading.shapes import STRICT, Quantity

_LABELS: Final = ("nvidia.com/", "amd.com/", "gpu.intel.com/")
"""Prefixes of the labels in which operators describe the accelerators of a node."""


def _accelerator_labels(labels: object) -> object:
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
    labels: NotRequired[Annotated[dict[str, str], BeforeValidator(_accelerator_labels)]]
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


NODES = [
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


@with_config(STRICT)
class Expression(TypedDict):
    """In CEL."""

    expression: NotRequired[str]


@with_config(STRICT)
class Selector(TypedDict):
    cel: NotRequired[Expression]


@with_config(STRICT)
class DeviceToleration(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]


@with_config(STRICT)
class SubRequest(TypedDict):
    """A request for devices, as an alternative or as the only one."""

    name: NotRequired[str]
    deviceClassName: NotRequired[str]
    allocationMode: NotRequired[str]
    count: NotRequired[int]
    adminAccess: NotRequired[bool]
    selectors: NotRequired[list[Selector]]
    tolerations: NotRequired[list[DeviceToleration]]
    accelerator: NotRequired[bool]
    """Whether the devices of the class are accelerators, where that is known; not of the manifest."""


def _with_accelerator(value: SubRequest) -> SubRequest:
    value.pop("accelerator", None)
    known = vocabulary.meaning_of_class(value.get("deviceClassName", "")).accelerator
    if known is not None:
        value["accelerator"] = known
    return value


Alternative = Annotated[SubRequest, AfterValidator(_with_accelerator)]


@with_config(STRICT)
class Request(SubRequest):
    exactly: NotRequired[Alternative]
    firstAvailable: NotRequired[list[Alternative]]


@with_config(STRICT)
class DeviceClaim(TypedDict):
    requests: NotRequired[list[Annotated[Request, AfterValidator(_with_accelerator)]]]


@with_config(STRICT)
class ClaimSpec(TypedDict):
    devices: NotRequired[DeviceClaim]


@with_config(STRICT)
class ResourceClaim(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[ClaimSpec]


@with_config(STRICT)
class TemplateSpec(TypedDict):
    spec: NotRequired[ClaimSpec]


@with_config(STRICT)
class ResourceClaimTemplate(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TemplateSpec]


DEVICES = [
    Kind(
        group="resource.k8s.io",
        kind="ResourceClaim",
        versions=("v1", "v1beta2", "v1beta1"),
        plural="resourceclaims",
        key="resourceClaim",
        shape=ResourceClaim,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        group="resource.k8s.io",
        kind="ResourceClaimTemplate",
        versions=("v1", "v1beta2", "v1beta1"),
        plural="resourceclaimtemplates",
        key="resourceClaimTemplate",
        shape=ResourceClaimTemplate,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        group="resource.k8s.io",
        kind="DeviceClass",
        versions=("v1", "v1beta2", "v1beta1"),
        plural="deviceclasses",
        cluster_scoped=True,
        facts=Facts(keep=KEEP_SPEC),
    ),
]
