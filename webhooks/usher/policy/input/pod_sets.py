"""The pod sets of the input document, as Rego sees them."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, cast

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, model, paths, quantities
from usher.accelerators import mig
from usher.authorities.nodes.declared_pools import PoolsInput
from usher.authorities.nodes.present import MigInput
from usher.kinds.reading import shapes
from usher.kinds.reading.environment import OF_NETWORKS
from usher.kinds.reading.shapes import Amount, amount_of


class Resource(TypedDict):
    """Requests and limits of one resource of a container."""

    requests: NotRequired[Amount]
    limits: NotRequired[Amount]
    places: NotRequired[dict[str, str]]
    """Paths of these two, in kinds that keep them elsewhere than in `resources` of a container."""


class ConfigMapKey(TypedDict):
    """The ConfigMap that a value comes from, and its key."""

    name: str
    key: str


class Variable(TypedDict):
    """`value` is absent when it comes from elsewhere."""

    path: str
    value: NotRequired[str]
    configMap: NotRequired[ConfigMapKey]
    overrides: NotRequired[str]
    """Path of an earlier entry of that name in the same list."""


class Source(TypedDict):
    """One entry of `envFrom`."""

    path: str
    prefix: NotRequired[str]
    variables: NotRequired[dict[str, str]]
    """Variables of the families that rules read; absent if usher does not know the object that brings them."""


class Container(shapes.Container):
    name: str
    path: str
    places: NotRequired[dict[str, str]]
    """Paths of fields that stand elsewhere than in the container, by their path below it."""
    type: str
    asksAccelerators: bool
    trains: NotRequired[bool]
    """Whether it does the work of its pod; absent if not."""
    usesClaims: NotRequired[bool]
    """Whether it uses any device claim of its pod, known or not; absent if not."""
    accelerators: dict[str, Resource]
    """Also accelerators with amount 0, or with requests and limits that contradict each other, so that it gets 0."""
    resources: NotRequired[dict[str, Resource]]
    """All other resources, of containers in pods that ask for accelerators."""
    lookalikes: NotRequired[dict[str, str]]
    """Paths of unknown resources that look like accelerators, by their names."""
    meantResources: NotRequired[dict[str, str]]
    """The known resources that those of `lookalikes` are meant for, where usher can tell, by their names."""
    environment: dict[str, Variable]
    """By name; the last of several entries with one name, because Kubernetes uses that one."""
    environmentSources: NotRequired[list[Source]]
    """Sources of `envFrom`. `environment` wins over all of them, and a later source over an earlier one."""
    operatorVariables: NotRequired[dict[str, str]]
    """Paths of variables that the kind's operator sets as well, by their names; never their values."""
    passesOn: NotRequired[list[str]]
    """Names of variables that its command hands to the ranks that it starts (`mpirun -x`)."""
    processes: NotRequired[model.Processes]
    """Absent if the launcher computes the number itself, if it is unknown, and without accelerators."""
    parallelism: NotRequired[model.ModelParallelism]
    """Absent if it starts no model server that usher knows, or if the number of GPUs is unknown."""
    notRepeated: NotRequired[list[str]]
    """Devices and claims of its runtime that its own resources do not repeat."""
    modelServer: NotRequired[str]
    """The model server that a container without accelerators starts, if it needs one."""
    oneText: NotRequired[str]
    """Path of a command that is one text with spaces."""
    oneProgram: NotRequired[str]
    """Path of a command that is one Python program without a launcher of ranks."""
    drainSeconds: NotRequired[int]
    """How long its server may finish requests after SIGTERM, by a flag."""
    idleCommand: NotRequired[str]
    """Path of a command that does nothing but wait while the container holds accelerators."""


def container_document(container: model.Container, *, all_resources: bool) -> Container:
    """A container as Rego sees it.

    Args:
        all_resources: whether rules also read resources that are not accelerators.
    """
    result: Container = {
        "name": container.name,
        "path": container.path,
        "type": container.type.value,
        "asksAccelerators": container.asks_accelerators,
        "accelerators": {name: _resource(container, name) for name in container.accelerators},
        "environment": {
            **_brought(container),
            **{variable.name: _variable(variable) for variable in container.environment},
        },
    }
    result.update(cast(Container, container.fields))
    others = {*container.requests, *container.limits}.difference(container.accelerators) if all_resources else ()
    result.update(
        paths.given(
            usesClaims=container.uses_claims,
            notRepeated=list(container.not_repeated),
            trains=container.trains,
            resources={name: _resource(container, name) for name in sorted(others)},
            lookalikes={name: container.first_path(name) for name in container.lookalikes},
            meantResources=dict(container.meant_resources),
        )
    )
    if len(container.environment) > len({variable.name for variable in container.environment}):
        _add_overrides(result["environment"], container.environment)
    _add_rare_fields(result, container)
    return result


def _add_rare_fields(result: Container, container: model.Container) -> None:
    """Adds the fields that few containers have."""
    result.update(
        paths.given(
            environmentSources=[_source(source) for source in container.environment_sources],
            operatorVariables=dict(container.operator_variables or {}),
            passesOn=list(container.passes_on),
            processes=container.processes,
            parallelism=container.parallelism,
            modelServer=container.model_server,
            places=dict(container.field_places),
            oneText=container.one_text,
            oneProgram=container.one_program,
            drainSeconds=container.drain_seconds,
            idleCommand=container.idle_command,
        )
    )


def _resource(container: model.Container, name: str) -> Resource:
    result: Resource = {}
    if name in container.requests:
        result["requests"] = amount_of(container.requests[name])
    if name in container.limits:
        result["limits"] = amount_of(container.limits[name])
    if container.places:
        result["places"] = {
            name_of_list: container.resource_path(name_of_list, name) for name_of_list in container.places
        }
    return result


def _brought(container: model.Container) -> dict[str, Variable]:
    """The variables of the network that known ConfigMaps bring, each at its entry of `envFrom`; the last one counts."""
    return {
        name: {"path": source.path, "value": text}
        for source in container.environment_sources
        for name, text in (source.variables or {}).items()
        if name.startswith(OF_NETWORKS)
    }


def _variable(variable: model.EnvironmentVariable) -> Variable:
    result: Variable = {"path": variable.path}
    if variable.value is not None:
        result["value"] = variable.value
    if variable.config_map is not None:
        name, key = variable.config_map
        result["configMap"] = {"name": name, "key": key}
    return result


def _source(source: model.EnvironmentSource) -> Source:
    result: Source = {"path": source.path}
    if source.prefix:
        result["prefix"] = source.prefix
    if source.variables is not None:
        result["variables"] = dict(source.variables)
    return result


def _add_overrides(variables: dict[str, Variable], environment: Sequence[model.EnvironmentVariable]) -> None:
    """Marks entries that repeat a name in their own list. Separate lists are layers and may repeat names."""
    seen: dict[tuple[str, str], str] = {}
    for variable in environment:
        key = (variable.path.rpartition("/")[0], variable.name)
        if key in seen and variables[variable.name]["path"] == variable.path:
            variables[variable.name]["overrides"] = seen[key]
        seen[key] = variable.path


# The families of labels and annotations that rules read. Others may differ between the pods of one job, or hold private
# data: kubectl keeps whole manifests in one.
READ_KEYS = (
    "alpha.jobset.sigs.k8s.io/",
    "autoscaling.knative.dev/",
    "batch.volcano.sh/",
    "cdi-devices.noderesource.dev",
    "cdi-devices.nri.io",
    "cdi.k8s.io/",
    "cdi.nri.io",
    "cluster-autoscaler.kubernetes.io/",
    "devices.crio.io",
    "devices.gke.io",
    "devices.noderesource.dev",
    "devices.nri.io",
    "gpu-fraction",
    "gpu-memory",
    "gpu-usher.io/",
    "grove.io/",
    "hami.io/webhook",
    "io.kubernetes.cri-o.Devices",
    "k8s.v1.cni.cncf.io/",
    "kai.scheduler/",
    "karpenter.sh/",
    "kueue.x-k8s.io/",
    "leaderworkerset.sigs.k8s.io/",
    "mounts.noderesource.dev",
    "mounts.nri.io",
    "netdevices.nri.io",
    "networking.gke.io/",
    "nvidia.cdi.k8s.io",
    "nvidia.com/enable-grove",
    "nvidia.com/gpu.memory",
    "nvidia.com/kai-scheduler-queue",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-security.kubernetes.io/",
    "priorityClassName",
    "sidecar.istio.io/",
    "project",
    "provreq.kueue.x-k8s.io/",
    "ray.io/",
    "resource.k8s.io/",
    "resource.kubernetes.io/",
    "runai/shared-gpu-configmap",
    "scaledobject.keda.sh/",
    "scheduling.k8s.io/",
    "scheduling.volcano.sh/",
    "scheduling.x-k8s.io/",
    "serving.knative.dev/",
    "serving.kserve.io/",
    "volcano.sh/",
)

MODEL_SIZE = "gpu-usher.io/model-size"
"""Annotation that holds a quantity, which no rule could read as one."""

_OF_TOLERATION = ("key", "operator", "value", "effect")


class Unit(TypedDict):
    """The group of pods that one model server may span: the pods of all pod sets with its name."""

    name: str
    pods: int
    """The pods of this pod set in one group."""


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
    selects: NotRequired[str]
    """The resource of the MIG profile that the selectors of a claim choose."""


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
    unit: NotRequired[Unit]
    """Absent in kinds whose model servers use one pod each, and where usher does not know."""
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
    result.update(cast(PodSet, where))
    _add_what_is_rare(result, pod_set)
    return result


def _add_what_is_rare(result: PodSet, pod_set: model.PodSet) -> None:
    unit = pod_set.unit
    result.update(
        paths.given(
            modelSize=model_size(pod_set.annotations),
            ownMetadataPath=pod_set.own_metadata_path,
            unit=None if unit is None else {"name": unit.name, "pods": unit.pods},
            placed=pod_set.placed,
            schedulingGroup=pod_set.scheduling_group,
            podRequests={name: amount_of(quantity) for name, quantity in pod_set.pod_requests.items()},
            podLimits={name: amount_of(quantity) for name, quantity in pod_set.pod_limits.items()},
            places=dict(pod_set.places),
            operatorEnvironment=sorted(pod_set.operator_environment),
        )
    )


def _request(request: model.AcceleratorRequest) -> Request:
    result: Request = {
        "route": request.route.value,
        "name": request.name,
        "path": request.path,
        "minimum": amount_of(request.minimum),
    }
    if request.maximum is not None:
        result["maximum"] = amount_of(request.maximum)
    if request.selects.startswith(mig.MIG_RESOURCE_PREFIX):
        result["selects"] = request.selects
    return result


def _toleration(toleration: Mapping[str, paths.Json]) -> Toleration:
    # usher has already reported fields of a wrong type, so it ignores them here.
    return cast(Toleration, {name: value for name in _OF_TOLERATION if isinstance(value := toleration.get(name), str)})


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
