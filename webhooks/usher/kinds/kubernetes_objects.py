"""Kubernetes' own kinds without pods: nodes, claims, quotas, priority classes, namespaces, ConfigMaps and others.

Version v1beta1 has the fields of a request in the request itself; later versions have them in `exactly`.

These ConfigMaps have no label, and others may hold anything. So usher reads only texts that look like a configuration,
and keeps only the fields below.
Source: NVIDIA/k8s-device-plugin @ 1b826acc api/config/v1 (config.go, flags.go, sharing.go, replicas.go).
"""

import re
from functools import cache
from typing import Annotated, Final, NotRequired

import pydantic
from pydantic import AfterValidator, BeforeValidator, PlainValidator, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors
from usher.accelerators import names, vocabulary
from usher.documents import reader
from usher.kinds.kind import KEEP_SPEC, Facts, Kind, keep_kueue_configuration, keeping
from usher.kinds.reading.shapes import (
    STRICT,
    HostPath,
    IntOrString,
    Metadata,
    PathOnNode,
    Quantity,
    with_place,
    without_nulls,
)

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


@with_config(STRICT)
class ScopeRequirement(TypedDict):
    scopeName: NotRequired[str]


@with_config(STRICT)
class ScopeSelector(TypedDict):
    matchExpressions: NotRequired[list[ScopeRequirement]]


@with_config(STRICT)
class ResourceQuotaSpec(TypedDict):
    hard: NotRequired[dict[str, Quantity]]
    scopes: NotRequired[list[str]]
    scopeSelector: NotRequired[ScopeSelector]


@with_config(STRICT)
class ResourceQuota(TypedDict):
    spec: NotRequired[ResourceQuotaSpec]


QUOTAS = [
    Kind(
        group="",
        kind="ResourceQuota",
        versions=("v1",),
        plural="resourcequotas",
        key="resourceQuota",
        shape=ResourceQuota,
        facts=Facts(
            keep=keeping("/spec", "/status/hard", "/status/used"), momentary=frozenset({"used"}), changes_often=True
        ),
    ),
    Kind(
        group="",
        kind="LimitRange",
        versions=("v1",),
        plural="limitranges",
        facts=Facts(keep=KEEP_SPEC, changes_often=True),
    ),
]


@with_config(STRICT)
class PriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    globalDefault: NotRequired[bool]
    preemptionPolicy: NotRequired[str]


PRIORITY_CLASSES = [
    Kind(
        group="scheduling.k8s.io",
        kind="PriorityClass",
        versions=("v1",),
        plural="priorityclasses",
        cluster_scoped=True,
        key="priorityClass",
        shape=PriorityClass,
        facts=Facts(keep=keeping("/value", "/globalDefault", "/preemptionPolicy")),
    ),
]


@with_config(STRICT)
class NamespaceMetadata(TypedDict):
    name: NotRequired[str]


@with_config(STRICT)
class Namespace(TypedDict):
    metadata: NotRequired[NamespaceMetadata]


NAMESPACES = [
    Kind(
        group="",
        kind="Namespace",
        versions=("v1",),
        plural="namespaces",
        cluster_scoped=True,
        own_webhook=True,
        key="namespace",
        shape=Namespace,
        facts=Facts(keep=keeping()),
    ),
]


@with_config(STRICT)
class DisruptionBudgetSpec(TypedDict):
    minAvailable: NotRequired[IntOrString]
    maxUnavailable: NotRequired[IntOrString]


@with_config(STRICT)
class DisruptionBudgetStatus(TypedDict):
    desiredHealthy: NotRequired[int]
    expectedPods: NotRequired[int]


@with_config(STRICT)
class DisruptionBudget(TypedDict):
    spec: NotRequired[DisruptionBudgetSpec]
    status: NotRequired[DisruptionBudgetStatus]


DISRUPTION_BUDGETS = [
    Kind(
        group="policy",
        kind="PodDisruptionBudget",
        versions=("v1",),
        plural="poddisruptionbudgets",
        key="disruptionBudget",
        shape=DisruptionBudget,
    ),
]


def _paths_of_options(options: object) -> object:
    """The paths among the options of a driver. Other values are left out, because they may be secrets."""
    if not isinstance(options, dict):
        return {}
    return {
        key: with_place({"path": value})
        for key, value in options.items()
        if isinstance(key, str) and isinstance(value, str) and value.startswith("/")
    }


DriverOptions = Annotated[dict[str, HostPath], BeforeValidator(_paths_of_options)]
"""The paths that the options of a volume driver name."""


@with_config(STRICT)
class CsiVolume(TypedDict):
    driver: NotRequired[str]
    volumeAttributes: NotRequired[DriverOptions]


@with_config(STRICT)
class FlexVolume(TypedDict):
    driver: NotRequired[str]
    options: NotRequired[DriverOptions]


@with_config(STRICT)
class PersistentVolumeSpec(TypedDict):
    volumeMode: NotRequired[str]
    hostPath: NotRequired[PathOnNode]
    local: NotRequired[PathOnNode]
    csi: NotRequired[CsiVolume]
    flexVolume: NotRequired[FlexVolume]


@with_config(STRICT)
class PersistentVolume(TypedDict):
    spec: NotRequired[PersistentVolumeSpec]


VOLUMES = [
    Kind(
        group="",
        kind="PersistentVolume",
        versions=("v1",),
        plural="persistentvolumes",
        cluster_scoped=True,
        key="persistentVolume",
        shape=PersistentVolume,
    ),
]


DEFINITIONS = [
    Kind(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        versions=("v1",),
        plural="customresourcedefinitions",
        cluster_scoped=True,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]


_MOST: Final = 64 * 1024
"""Characters of a configuration that usher reads; real ones have a few hundred."""

_SHARES: Final = re.compile(r"""^["']?sharing["']?\s*:|\A\s*\{.*"sharing"\s*:""", re.MULTILINE | re.DOTALL)


@with_config(STRICT)
class SharedResource(TypedDict):
    name: NotRequired[str]
    replicas: NotRequired[int]


@with_config(STRICT)
class Shares(TypedDict):
    """How one way of sharing divides devices."""

    renameByDefault: NotRequired[bool]
    failRequestsGreaterThanOne: NotRequired[bool]
    resources: NotRequired[list[SharedResource]]
    replicas: NotRequired[int]
    """This field does not exist in the API, but people write the number there."""


@with_config(STRICT)
class Sharing(TypedDict):
    timeSlicing: NotRequired[Shares]
    mps: NotRequired[Shares]


@with_config(STRICT)
class Flags(TypedDict):
    migStrategy: NotRequired[str]


@with_config(STRICT)
class Configuration(TypedDict):
    flags: NotRequired[Flags]
    sharing: NotRequired[Sharing]


@cache
def _configurations() -> TypeAdapter[Configuration]:
    return TypeAdapter(Configuration)


def _read(value: object) -> Configuration:
    """The configuration in a text; empty where the text is not a configuration, or does not share devices."""
    if not isinstance(value, str) or not _SHARES.search(value):
        return {}
    if len(value) > _MOST:
        raise ValueError(f"longer than {_MOST} characters, so it is not read as a configuration of the device plugin")
    try:
        found = reader.parse(value, source="text")
    except errors.ManifestError as error:
        raise ValueError(
            f"looks like a configuration of the device plugin, but cannot be read: {error.reason}"
        ) from None
    # The plugin reads the first document of several.
    first = without_nulls(found[0].value) if found else {}
    if not isinstance(first, dict) or "sharing" not in first:
        return {}
    try:
        return _configurations().validate_python(first)
    except pydantic.ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, detail["loc"]))
        raise ValueError(f"in its {place}: {detail['msg']}") from None


def _that_share(configurations: dict[str, Configuration]) -> dict[str, Configuration]:
    return {key: configuration for key, configuration in configurations.items() if "sharing" in configuration}


Configurations = Annotated[
    dict[str, Annotated[Configuration, PlainValidator(_read, json_schema_input_type=Configuration)]],
    AfterValidator(_that_share),
]
"""`data` of a ConfigMap: the configurations among its texts that share devices, and nothing of the others."""


@with_config(STRICT)
class ConfigMap(TypedDict):
    data: NotRequired[Configurations]


CONFIG_MAPS = [
    Kind(
        group="",
        kind="ConfigMap",
        versions=("v1",),
        plural="configmaps",
        # usher is not called for every ConfigMap and does not list them: both would cost more than they find.
        listed=False,
        configures_devices=True,
        key="configMap",
        shape=ConfigMap,
        facts=Facts(keep=keep_kueue_configuration, presence_only=True, by_choice=True),
    ),
]
