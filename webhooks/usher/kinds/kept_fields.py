"""The kinds of objects that decisions look at, and what is kept of each: nothing secret, nothing that no rule reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from usher import paths

Key = tuple[str, str]
"""Group and kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKind:
    """A kind as it is read from a cluster."""

    group: str
    versions: tuple[str, ...]
    """Those that are understood, the best first."""
    kind: str
    plural: str
    keep: Callable[[paths.Object], paths.Object]
    """What is kept of an object; it may be of any shape."""
    cluster_scoped: bool = False
    momentary: frozenset[str] = frozenset()
    """Fields of the status that tell what is used at the moment: nothing is worked out of them, so it stays."""
    presence_only: bool = False
    """Whether only names are asked for, so that contents are never read."""

    @property
    def key(self) -> Key:
        return self.group, self.kind

    @property
    def resource(self) -> str:
        """As in `kubectl get`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_METADATA: Final = ("name", "namespace", "uid", "labels", "deletionTimestamp")
"""Annotations are not among them: kubectl keeps whole manifests in one."""


def _identity(value: paths.Object) -> paths.Object:
    metadata = value.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    kept: paths.Object = {key: fields[key] for key in _METADATA if key in fields}
    return {"apiVersion": value.get("apiVersion"), "kind": value.get("kind"), "metadata": kept}


def keeping(*pointers: str) -> Callable[[paths.Object], paths.Object]:
    """Keeps what stands at some JSON Pointers, beside the identity and the labels of the object."""
    ways = [paths.split(pointer) for pointer in pointers]

    def keep(value: paths.Object) -> paths.Object:
        result = _identity(value)
        for way in ways:
            _copy(value, result, way)
        return result

    return keep


def _copy(source: paths.Json, target: paths.Object, way: list[str]) -> None:
    key, *rest = way
    if not isinstance(source, dict) or key not in source:
        return
    if not rest:
        target[key] = source[key]
        return
    inner = target.setdefault(key, {})
    if isinstance(inner, dict):
        _copy(source[key], inner, rest)


_WHOLE: Final = keeping("/spec")
_WITH_STATUS: Final = keeping("/spec", "/status")

CONFIG_MAP: Final[Key] = ("", "ConfigMap")
DEFINITION: Final[Key] = ("apiextensions.k8s.io", "CustomResourceDefinition")

KUEUE_CONFIGURATION: Final = ("kueue-system", "kueue-manager-config")
"""Namespace and name of the ConfigMap from which Kueue reads its own configuration, where it is installed as usual."""

KUEUE_CONFIGURATION_KEY: Final = "controller_manager_config.yaml"


def _config_map(value: paths.Object) -> paths.Object:
    result = _identity(value)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and (metadata.get("namespace"), metadata.get("name")) == KUEUE_CONFIGURATION:
        _copy(value, result, ["data", KUEUE_CONFIGURATION_KEY])
    return result


_OPEN_VARIABLES: Final = ("CUDA_", "NCCL_", "NVIDIA_")
"""Prefixes of environment variables that rules read; the values of all others may be secrets."""


def _templates(value: paths.Object) -> paths.Object:
    """The object with the values of its templates' environment left out, but for those that rules read."""
    result = _WHOLE(value)
    return result if "spec" not in result else {**result, "spec": _without_values(result["spec"])}


def _without_values(value: paths.Json) -> paths.Json:
    if isinstance(value, list):
        return [_without_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: [_variable(each) for each in item] if key == "env" and isinstance(item, list) else _without_values(item)
        for key, item in value.items()
    }


def _variable(entry: paths.Json) -> paths.Json:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or (isinstance(name, str) and name.startswith(_OPEN_VARIABLES)):
        return entry
    return {key: item for key, item in entry.items() if key != "value"}


def _kueue(
    kind: str,
    plural: str,
    *,
    keep: Callable[[paths.Object], paths.Object],
    namespaced: bool = False,
    momentary: frozenset[str] = frozenset(),
) -> FactKind:
    return FactKind(
        group="kueue.x-k8s.io",
        versions=("v1beta2", "v1beta1"),
        kind=kind,
        plural=plural,
        keep=keep,
        cluster_scoped=not namespaced,
        momentary=momentary,
    )


FACT_KINDS: Final[tuple[FactKind, ...]] = (
    FactKind(group="", versions=("v1",), kind="Namespace", plural="namespaces", keep=keeping(), cluster_scoped=True),
    FactKind(
        group="",
        versions=("v1",),
        kind="Node",
        plural="nodes",
        keep=keeping("/spec/taints", "/spec/unschedulable", "/status/allocatable", "/status/capacity"),
        cluster_scoped=True,
    ),
    FactKind(
        group="",
        versions=("v1",),
        kind="ResourceQuota",
        plural="resourcequotas",
        keep=keeping("/spec", "/status/hard", "/status/used"),
        momentary=frozenset({"used"}),
    ),
    FactKind(group="", versions=("v1",), kind="LimitRange", plural="limitranges", keep=_WHOLE),
    FactKind(group="", versions=("v1",), kind="ConfigMap", plural="configmaps", keep=_config_map, presence_only=True),
    FactKind(
        group="scheduling.k8s.io",
        versions=("v1",),
        kind="PriorityClass",
        plural="priorityclasses",
        keep=keeping("/value", "/globalDefault", "/preemptionPolicy"),
        cluster_scoped=True,
    ),
    FactKind(
        group="node.k8s.io",
        versions=("v1",),
        kind="RuntimeClass",
        plural="runtimeclasses",
        keep=keeping("/handler", "/overhead", "/scheduling"),
        cluster_scoped=True,
    ),
    _kueue(
        "LocalQueue",
        "localqueues",
        keep=keeping("/spec/clusterQueue", "/spec/stopPolicy", "/status/conditions"),
        namespaced=True,
    ),
    _kueue(
        "ClusterQueue",
        "clusterqueues",
        keep=keeping("/spec", "/status/conditions", "/status/flavorsReservation"),
        momentary=frozenset({"flavorsReservation"}),
    ),
    _kueue("Cohort", "cohorts", keep=_WHOLE),
    _kueue("ResourceFlavor", "resourceflavors", keep=_WHOLE),
    _kueue("WorkloadPriorityClass", "workloadpriorityclasses", keep=keeping("/value")),
    _kueue("Topology", "topologies", keep=_WHOLE),
    FactKind(
        group="scheduling.volcano.sh",
        versions=("v1beta1",),
        kind="Queue",
        plural="queues",
        keep=keeping("/spec", "/status/state", "/status/allocated"),
        cluster_scoped=True,
        momentary=frozenset({"allocated"}),
    ),
    FactKind(
        group="scheduling.volcano.sh",
        versions=("v1beta1",),
        kind="PodGroup",
        plural="podgroups",
        keep=keeping("/spec", "/status/phase"),
    ),
    FactKind(
        group="resource.k8s.io",
        versions=("v1", "v1beta2", "v1beta1"),
        kind="DeviceClass",
        plural="deviceclasses",
        keep=_WHOLE,
        cluster_scoped=True,
    ),
    FactKind(
        group="resource.k8s.io",
        versions=("v1", "v1beta2", "v1beta1"),
        kind="ResourceClaim",
        plural="resourceclaims",
        keep=_WHOLE,
    ),
    FactKind(
        group="resource.k8s.io",
        versions=("v1", "v1beta2", "v1beta1"),
        kind="ResourceClaimTemplate",
        plural="resourceclaimtemplates",
        keep=_WHOLE,
    ),
    FactKind(
        group="trainer.kubeflow.org",
        versions=("v1alpha1",),
        kind="TrainingRuntime",
        plural="trainingruntimes",
        keep=_templates,
    ),
    FactKind(
        group="trainer.kubeflow.org",
        versions=("v1alpha1",),
        kind="ClusterTrainingRuntime",
        plural="clustertrainingruntimes",
        keep=_templates,
        cluster_scoped=True,
    ),
    FactKind(
        group="serving.kserve.io",
        versions=("v1alpha1",),
        kind="ServingRuntime",
        plural="servingruntimes",
        keep=_templates,
    ),
    FactKind(
        group="serving.kserve.io",
        versions=("v1alpha1",),
        kind="ClusterServingRuntime",
        plural="clusterservingruntimes",
        keep=_templates,
        cluster_scoped=True,
    ),
    FactKind(
        group="serving.kserve.io",
        versions=("v1alpha2", "v1alpha1"),
        kind="LLMInferenceServiceConfig",
        plural="llminferenceserviceconfigs",
        keep=_templates,
    ),
    FactKind(
        group="gpu-usher.io",
        versions=("v1alpha1",),
        kind="GPUQuota",
        plural="gpuquotas",
        keep=_WITH_STATUS,
        cluster_scoped=True,
        momentary=frozenset({"charges", "conditions", "used", "version"}),
    ),
    FactKind(
        group="apiextensions.k8s.io",
        versions=("v1",),
        kind="CustomResourceDefinition",
        plural="customresourcedefinitions",
        keep=keeping(),
        cluster_scoped=True,
        presence_only=True,
    ),
)

MOMENTARY: Final[frozenset[Key]] = frozenset(
    {("", "Node"), ("", "ResourceQuota"), ("", "LimitRange"), ("scheduling.volcano.sh", "PodGroup")}
)
"""Kinds that change all the time and that neither the reading of workloads nor any mutation looks up."""

BY_KEY: Final[Mapping[Key, FactKind]] = {kind.key: kind for kind in FACT_KINDS}
