"""Kubernetes' own kinds without pods: nodes, claims, quotas, priority classes, namespaces, ConfigMaps and others.

Version v1beta1 has the fields of a request in the request itself; later versions have them in `exactly`.

NetworkAttachmentDefinitions of Multus are networks for pods: usher reads only their names.
"""

from typing import Annotated, Final, NotRequired

from pydantic import AfterValidator, BeforeValidator
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import paths
from usher.accelerators import boards, names, vocabulary
from usher.kinds.kind import KEEP_SPEC, Facts, Kind, api, keep_kueue_configuration, keeping
from usher.kinds.reading import known_keys
from usher.kinds.reading.shapes import (
    HostPath,
    IntOrString,
    Metadata,
    PathOnNode,
    Present,
    Quantity,
    with_place,
)

_LABELS: Final = ("nvidia.com/", "amd.com/", "dcm.amd.com/", "gpu.intel.com/")
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


class NodeMetadata(TypedDict):
    labels: NotRequired[Annotated[dict[str, str], BeforeValidator(_accelerator_labels)]]
    """Only those that tell of accelerators."""
    layout: NotRequired[boards.Reason]
    """Why the GPUs cannot have the layout of the label nvidia.com/mig.config; not of the manifest."""


def _with_layout(metadata: NodeMetadata) -> NodeMetadata:
    metadata.pop("layout", None)
    labels = metadata.get("labels", {})
    found = boards.problem_of_name(labels.get(boards.CONFIG_LABEL, ""), labels)
    if found is not None:
        metadata["layout"] = {"text": found[0], "remedy": found[1]}
    return metadata


class NodeTaint(TypedDict):
    key: NotRequired[str]
    value: NotRequired[str]
    effect: NotRequired[str]


class NodeSpec(TypedDict):
    taints: NotRequired[list[NodeTaint]]


class NodeStatus(TypedDict):
    capacity: NotRequired[Annotated[dict[str, Quantity], BeforeValidator(_accelerators)]]
    """Only accelerators, healthy or not, of those names that are known without usher.yaml."""


class Node(TypedDict):
    metadata: NotRequired[Annotated[NodeMetadata, AfterValidator(_with_layout)]]
    spec: NotRequired[NodeSpec]
    status: NotRequired[NodeStatus]


class BindingTarget(TypedDict):
    name: NotRequired[str]


class Binding(TypedDict):
    target: NotRequired[BindingTarget]


class WebhookRule(TypedDict):
    apiGroups: NotRequired[list[str]]
    operations: NotRequired[list[str]]
    resources: NotRequired[list[str]]


class SelectorExpression(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]
    values: NotRequired[list[str]]


class LabelSelector(TypedDict):
    matchLabels: NotRequired[dict[str, str]]
    matchExpressions: NotRequired[list[SelectorExpression]]


class AdmissionWebhook(TypedDict):
    name: NotRequired[str]
    failurePolicy: NotRequired[str]
    rules: NotRequired[list[WebhookRule]]
    namespaceSelector: NotRequired[LabelSelector]
    objectSelector: NotRequired[LabelSelector]
    matchConditions: NotRequired[list[Present]]


class WebhookConfiguration(TypedDict):
    webhooks: NotRequired[list[AdmissionWebhook]]


# No webhook is ever asked about configurations of webhooks, so only files show them.
WEBHOOKS = [
    Kind(
        **api(
            "admissionregistration.k8s.io",
            f"{sort}WebhookConfiguration",
            f"{sort.lower()}webhookconfigurations",
            "v1",
        ),
        cluster_scoped=True,
        key=f"{sort.lower()}WebhookConfiguration",
        shape=WebhookConfiguration,
        listed=False,
    )
    for sort in ("Mutating", "Validating")
]


_KEEP_OFFER: Final = keeping("/spec/taints", "/spec/unschedulable", "/status/allocatable", "/status/capacity")


def _keep_node(value: paths.Object) -> paths.Object:
    """The resources and the taints of a node, and the annotations in which HAMi and Volcano register its devices."""
    result = _KEEP_OFFER(value)
    annotations = paths.mapping(paths.metadata(value).get("annotations"))
    if found := {key: text for key, text in annotations.items() if names.REGISTER.match(key)}:
        result["metadata"] = {**paths.metadata(result), "annotations": {**found}}
    return result


NODES = [
    Kind(
        **api("", "Node", "nodes", "v1"),
        cluster_scoped=True,
        key="node",
        shape=Node,
        facts=Facts(
            keep=_keep_node,
            changes_often=True,
        ),
    ),
    Kind(
        **api("", "Binding", "bindings", "v1"),
        key="binding",
        shape=Binding,
        listed=False,
        own_webhook=True,
    ),
    Kind(
        **api("node.k8s.io", "RuntimeClass", "runtimeclasses", "v1"),
        cluster_scoped=True,
        facts=Facts(keep=keeping("/handler", "/overhead", "/scheduling")),
    ),
]


class Expression(TypedDict):
    """In CEL."""

    expression: NotRequired[str]


class Selector(TypedDict):
    cel: NotRequired[Expression]


class DeviceToleration(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]


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


class Request(SubRequest):
    exactly: NotRequired[Alternative]
    firstAvailable: NotRequired[list[Alternative]]


class Sharing(TypedDict):
    """How the configuration of a claim asks NVIDIA's driver to share a GPU; its place in the list is `index`."""

    index: int
    strategy: str
    percentage: NotRequired[int]
    """defaultActiveThreadPercentage of MPS."""


def _sharing_by_nvidia(configuration: object) -> list[Sharing]:
    """The ways of sharing in opaque parameters, which may be anything."""
    found = list[Sharing]()
    for index, entry in enumerate(configuration if isinstance(configuration, list) else ()):
        opaque = paths.mapping(paths.mapping(entry).get("opaque"))
        sharing = paths.mapping(paths.mapping(opaque.get("parameters")).get("sharing"))
        strategy = sharing.get("strategy")
        if opaque.get("driver") == "gpu.nvidia.com" and isinstance(strategy, str):
            found.append({"index": index, "strategy": strategy})
            percentage = paths.mapping(sharing.get("mpsConfig")).get("defaultActiveThreadPercentage")
            if isinstance(percentage, int) and not isinstance(percentage, bool):
                found[-1]["percentage"] = percentage
    return found


class DeviceClaim(TypedDict):
    requests: NotRequired[list[Annotated[Request, AfterValidator(_with_accelerator)]]]
    config: NotRequired[Annotated[list[Sharing], BeforeValidator(_sharing_by_nvidia)]]


class ClaimSpec(TypedDict):
    devices: NotRequired[DeviceClaim]


# The key is not a valid name in Python. All other annotations stay in the manifest.
ClaimAnnotations = TypedDict("ClaimAnnotations", {"resource.kubernetes.io/extended-resource-claim": NotRequired[str]})


class ClaimMetadata(TypedDict):
    annotations: NotRequired[ClaimAnnotations]


class ResourceClaim(TypedDict):
    apiVersion: NotRequired[str]
    metadata: NotRequired[ClaimMetadata]
    spec: NotRequired[ClaimSpec]


class TemplateSpec(TypedDict):
    spec: NotRequired[ClaimSpec]


class ResourceClaimTemplate(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TemplateSpec]


DEVICES = [
    Kind(
        **api("resource.k8s.io", "ResourceClaim", "resourceclaims", "v1", "v1beta2", "v1beta1"),
        key="resourceClaim",
        shape=ResourceClaim,
        facts=Facts(keep=keeping("/spec", "/status/allocation"), momentary=frozenset({"allocation"})),
    ),
    Kind(
        **api("resource.k8s.io", "ResourceClaimTemplate", "resourceclaimtemplates", "v1", "v1beta2", "v1beta1"),
        key="resourceClaimTemplate",
        shape=ResourceClaimTemplate,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        **api("resource.k8s.io", "DeviceClass", "deviceclasses", "v1", "v1beta2", "v1beta1"),
        cluster_scoped=True,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        **api("resource.k8s.io", "ResourceSlice", "resourceslices", "v1", "v1beta2", "v1beta1"),
        cluster_scoped=True,
        facts=Facts(keep=KEEP_SPEC),
    ),
]


class ScopeRequirement(TypedDict):
    scopeName: NotRequired[str]


class ScopeSelector(TypedDict):
    matchExpressions: NotRequired[list[ScopeRequirement]]


class ResourceQuotaSpec(TypedDict):
    hard: NotRequired[dict[str, Quantity]]
    scopes: NotRequired[list[str]]
    scopeSelector: NotRequired[ScopeSelector]


class ResourceQuotaStatus(TypedDict):
    used: NotRequired[dict[str, Quantity]]


class ResourceQuota(TypedDict):
    spec: NotRequired[ResourceQuotaSpec]
    status: NotRequired[ResourceQuotaStatus]


QUOTAS = [
    Kind(
        **api("", "ResourceQuota", "resourcequotas", "v1"),
        key="resourceQuota",
        shape=ResourceQuota,
        facts=Facts(
            keep=keeping("/spec", "/status/hard", "/status/used"), momentary=frozenset({"used"}), changes_often=True
        ),
    ),
    Kind(
        **api("", "LimitRange", "limitranges", "v1"),
        facts=Facts(keep=KEEP_SPEC, changes_often=True),
    ),
]


class KaiAmounts(TypedDict):
    quota: NotRequired[Quantity]
    limit: NotRequired[Quantity]


class KaiResources(TypedDict):
    gpu: NotRequired[KaiAmounts]


class KaiQueueSpec(TypedDict):
    parentQueue: NotRequired[str]
    resources: NotRequired[KaiResources]


class KaiQueueStatus(TypedDict):
    allocated: NotRequired[dict[str, Quantity]]
    allocatedNonPreemptible: NotRequired[dict[str, Quantity]]


class KaiQueue(TypedDict):
    """-1 means without a limit, or without a quota (NVIDIA/KAI-Scheduler pkg/apis/scheduling/v2/queue_types.go)."""

    spec: NotRequired[KaiQueueSpec]
    status: NotRequired[KaiQueueStatus]


SCHEDULING = [
    Kind(
        **api("scheduling.k8s.io", "PodGroup", "podgroups", "v1beta1", "v1alpha3", "v1alpha2"),
        listed=False,
        facts=Facts(keep=KEEP_SPEC, changes_often=True),
    ),
    Kind(
        **api("scheduling.x-k8s.io", "PodGroup", "podgroups", "v1alpha1"),
        listed=False,
        facts=Facts(keep=KEEP_SPEC, changes_often=True),
    ),
    Kind(
        **api("scheduling.run.ai", "Queue", "queues", "v2"),
        cluster_scoped=True,
        key="kaiQueue",
        shape=KaiQueue,
        facts=Facts(
            keep=keeping(
                "/spec/parentQueue", "/spec/resources/gpu", "/status/allocated", "/status/allocatedNonPreemptible"
            ),
            momentary=frozenset({"allocated", "allocatedNonPreemptible"}),
        ),
    ),
]
"""The objects of schedulers other than Volcano and Kueue that pods name."""


class PriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    globalDefault: NotRequired[bool]
    preemptionPolicy: NotRequired[str]


PRIORITY_CLASSES = [
    Kind(
        **api("scheduling.k8s.io", "PriorityClass", "priorityclasses", "v1"),
        cluster_scoped=True,
        key="priorityClass",
        shape=PriorityClass,
        facts=Facts(keep=keeping("/value", "/globalDefault", "/preemptionPolicy")),
    ),
]


class NamespaceMetadata(TypedDict):
    name: NotRequired[str]


class Namespace(TypedDict):
    metadata: NotRequired[NamespaceMetadata]


NAMESPACES = [
    Kind(
        **api("", "Namespace", "namespaces", "v1"),
        cluster_scoped=True,
        own_webhook=True,
        key="namespace",
        shape=Namespace,
        facts=Facts(keep=keeping()),
    ),
]


class DisruptionBudgetSpec(TypedDict):
    minAvailable: NotRequired[IntOrString]
    maxUnavailable: NotRequired[IntOrString]


class DisruptionBudgetStatus(TypedDict):
    desiredHealthy: NotRequired[int]
    expectedPods: NotRequired[int]


class DisruptionBudget(TypedDict):
    spec: NotRequired[DisruptionBudgetSpec]
    status: NotRequired[DisruptionBudgetStatus]


DISRUPTION_BUDGETS = [
    Kind(
        **api("policy", "PodDisruptionBudget", "poddisruptionbudgets", "v1"),
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


class CsiVolume(TypedDict):
    driver: NotRequired[str]
    volumeAttributes: NotRequired[DriverOptions]


class FlexVolume(TypedDict):
    driver: NotRequired[str]
    options: NotRequired[DriverOptions]


class PersistentVolumeSpec(TypedDict):
    volumeMode: NotRequired[str]
    hostPath: NotRequired[PathOnNode]
    local: NotRequired[PathOnNode]
    csi: NotRequired[CsiVolume]
    flexVolume: NotRequired[FlexVolume]


class PersistentVolume(TypedDict):
    spec: NotRequired[PersistentVolumeSpec]


VOLUMES = [
    Kind(
        **api("", "PersistentVolume", "persistentvolumes", "v1"),
        cluster_scoped=True,
        key="persistentVolume",
        shape=PersistentVolume,
    ),
]


DEFINITIONS = [
    Kind(
        **api("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", "v1"),
        cluster_scoped=True,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]


class ConfigMap(TypedDict):
    data: NotRequired[known_keys.ConfigurationTexts]


CONFIG_MAPS = [
    Kind(
        **api("", "ConfigMap", "configmaps", "v1"),
        # usher is not called for every ConfigMap and does not list them: both would cost more than they find.
        listed=False,
        configures_devices=True,
        key="configMap",
        shape=ConfigMap,
        facts=Facts(keep=keep_kueue_configuration, presence_only=True, by_choice=True),
    ),
]


NETWORK_ATTACHMENTS = [
    Kind(
        **api("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "network-attachment-definitions", "v1"),
        listed=False,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]
