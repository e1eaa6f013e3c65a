"""The pod sets of the input document, as Rego sees them."""

from collections.abc import Mapping
from typing import NotRequired, cast

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, model, paths, quantities
from usher.authorities.nodes.mig_slice import MigInput
from usher.authorities.nodes.pool_input import PoolsInput
from usher.kinds.reading import shapes
from usher.kinds.reading.shapes import Amount, amount_of
from usher.policy.input.containers import Container, container_document

# The families of labels and annotations that rules read. Others may differ between the pods of one job, or hold private
# data: kubectl keeps whole manifests in one.
READ_KEYS = (
    "alpha.jobset.sigs.k8s.io/",
    "autoscaling.knative.dev/",
    "batch.volcano.sh/",
    "cdi-devices.noderesource.dev",
    "cdi-devices.nri.io",
    "cdi.k8s.io/",
    "cluster-autoscaler.kubernetes.io/",
    "devices.gke.io",
    "devices.noderesource.dev",
    "devices.nri.io",
    "gpu-fraction",
    "gpu-memory",
    "gpu-usher.io/",
    "k8s.v1.cni.cncf.io/",
    "kai.scheduler/",
    "karpenter.sh/",
    "kueue.x-k8s.io/",
    "leaderworkerset.sigs.k8s.io/",
    "mounts.noderesource.dev",
    "mounts.nri.io",
    "networking.gke.io/",
    "nvidia.cdi.k8s.io",
    "pod-security.kubernetes.io/",
    "priorityClassName",
    "project",
    "provreq.kueue.x-k8s.io/",
    "ray.io/",
    "resource.k8s.io/",
    "resource.kubernetes.io/",
    "runai/shared-gpu-configmap",
    "scheduling.k8s.io/",
    "scheduling.volcano.sh/",
    "serving.kserve.io/",
    "volcano.sh/",
)


MODEL_SIZE = "gpu-usher.io/model-size"
"""Annotation that holds a quantity, which no rule could read as one."""

_OF_TOLERATION = ("key", "operator", "value", "effect")


class Pods(TypedDict):
    """`maximum` is absent when nothing bounds it."""

    minimum: int
    maximum: NotRequired[int]


class Request(TypedDict):
    """The amount that one pod requests by a route; `maximum` is absent if it has no bound."""

    route: str
    name: str
    path: str
    minimum: Amount
    maximum: NotRequired[Amount]


class Toleration(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]
    value: NotRequired[str]
    effect: NotRequired[str]


class PodSet(PoolsInput, shapes.PodSpec):
    name: str
    path: str
    metadataPath: str
    specPath: str
    ownMetadataPath: NotRequired[str]
    """The metadata that only these pods get; absent where `metadataPath` is the only place."""
    pods: Pods
    labels: dict[str, str]
    annotations: dict[str, str]
    modelSize: NotRequired[Amount]
    """The quantity in the annotation gpu-usher.io/model-size; absent if it is not a quantity."""
    schedulerName: str
    priorityClassName: str
    runtimeClassName: str
    nodeName: str
    placed: NotRequired[bool]
    """Whether the cluster knows the Pod already, so that the scheduler may have chosen its node."""
    asksAccelerators: bool
    accelerators: dict[str, int]
    requests: list[Request]
    deviceClaims: int
    tolerations: list[Toleration]
    nodeSelector: dict[str, str]
    schedulingGroup: NotRequired[str]
    podRequests: NotRequired[dict[str, Amount]]
    """The `resources.requests` of the pod as a whole."""
    podLimits: NotRequired[dict[str, Amount]]
    places: NotRequired[dict[str, str]]
    """Paths of pod-spec fields that are not below `specPath`, by their names."""
    changeable: bool
    operatorEnvironment: NotRequired[list[str]]
    """Variables that the operator of the kind sets itself; names ending in * are prefixes."""
    ranksInheritEnvironment: bool
    mig: NotRequired[MigInput]
    """Only where one pod asks for slices of GPUs by MIG."""
    containers: list[Container]


def pod_set_document(pod_set: model.PodSet, where: PoolsInput) -> PodSet:
    """A pod set as Rego sees it, with the pools on which its pods could run."""
    result: PodSet = {
        "poolsDeclared": where["poolsDeclared"],
        "selectsAcceleratorNodes": where["selectsAcceleratorNodes"],
        "fits": where["fits"],
        "assumedTaints": where["assumedTaints"],
        "tolerated": where["tolerated"],
        "name": pod_set.name,
        "path": pod_set.path,
        "metadataPath": pod_set.metadata_path,
        "specPath": pod_set.spec_path,
        "pods": pods_document(pod_set.count),
        "labels": read_keys(pod_set.labels),
        "annotations": read_keys(pod_set.annotations),
        "schedulerName": pod_set.scheduler_name,
        "priorityClassName": pod_set.priority_class_name,
        "runtimeClassName": pod_set.runtime_class_name,
        "nodeName": pod_set.node_name,
        "asksAccelerators": pod_set.asks_accelerators,
        "accelerators": {name: quantity.value for name, quantity in pod_set.accelerators.items()},
        "requests": [_request(request) for request in pod_set.requests],
        "deviceClaims": pod_set.device_claims,
        "tolerations": [_toleration(toleration) for toleration in pod_set.tolerations],
        "nodeSelector": dict(pod_set.node_selector),
        "changeable": pod_set.changeable,
        "ranksInheritEnvironment": pod_set.ranks_inherit_environment,
        "containers": [
            container_document(container, all_resources=pod_set.asks_accelerators) for container in pod_set.containers
        ],
    }
    result.update(cast(PodSet, pod_set.fields))
    if "keptOff" in where:
        result["keptOff"] = where["keptOff"]
    if "undeclaredDevices" in where:
        result["undeclaredDevices"] = where["undeclaredDevices"]
    if "undeclaredMachines" in where:
        result["undeclaredMachines"] = where["undeclaredMachines"]
    if "poolsFound" in where:
        result["poolsFound"] = where["poolsFound"]
    if "numbers" in where:
        result["numbers"] = where["numbers"]
    if "unmatchedClasses" in where:
        result["unmatchedClasses"] = where["unmatchedClasses"]
    _add_what_is_rare(result, pod_set)
    return result


def _add_what_is_rare(result: PodSet, pod_set: model.PodSet) -> None:
    size = model_size(pod_set.annotations)
    if size is not None:
        result["modelSize"] = size
    if pod_set.own_metadata_path:
        result["ownMetadataPath"] = pod_set.own_metadata_path
    if pod_set.placed:
        result["placed"] = True
    if pod_set.scheduling_group:
        result["schedulingGroup"] = pod_set.scheduling_group
    if pod_set.pod_requests:
        result["podRequests"] = _amounts(pod_set.pod_requests)
    if pod_set.pod_limits:
        result["podLimits"] = _amounts(pod_set.pod_limits)
    if pod_set.places:
        result["places"] = dict(pod_set.places)
    if pod_set.operator_environment:
        result["operatorEnvironment"] = sorted(pod_set.operator_environment)


def _request(request: model.AcceleratorRequest) -> Request:
    result: Request = {
        "route": request.route.value,
        "name": request.name,
        "path": request.path,
        "minimum": amount_of(request.minimum),
    }
    if request.maximum is not None:
        result["maximum"] = amount_of(request.maximum)
    return result


def _toleration(toleration: Mapping[str, paths.Json]) -> Toleration:
    # usher has already reported fields of a wrong type, so it ignores them here.
    return cast(Toleration, {name: value for name in _OF_TOLERATION if isinstance(value := toleration.get(name), str)})


def _amounts(amounts: Mapping[str, quantities.Quantity]) -> dict[str, Amount]:
    return {name: amount_of(quantity) for name, quantity in amounts.items()}


def model_size(annotations: Mapping[str, str]) -> Amount | None:
    """The quantity in the annotation; None without the annotation, or if its text is not a quantity of at least 0."""
    text = annotations.get(MODEL_SIZE)
    if text is None:
        return None
    try:
        found = quantities.parse(text)
    except errors.QuantityError:
        return None
    return amount_of(found) if found.nanos >= 0 else None


def pods_document(count: model.Count) -> Pods:
    if count.maximum is None:
        return {"minimum": count.minimum}
    return {"minimum": count.minimum, "maximum": count.maximum}


def read_keys(entries: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in entries.items() if key.startswith(READ_KEYS)}
