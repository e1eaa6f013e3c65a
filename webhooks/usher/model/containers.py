"""A container, normalised: the accelerators that it asks for, its variables, its processes and its model.

A TypedDict here stands in the input document of the policies as it is.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple, NotRequired

from msgspec import Struct, field
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import paths, quantities

Resources = Mapping[str, quantities.Quantity]
"""Quantities by resource name."""


class Route(StrEnum):
    """How a pod asks for an accelerator, in the words of our messages."""

    RESOURCE = "extended resource"
    PARTITION = "partition"
    """A part of a device for one pod alone: MIG, the partitions of AMD."""
    SHARE = "share"
    """A part of a device that other pods use too: time slices, MPS, the virtual GPUs of HAMi and Volcano."""
    CLAIM = "device claim"
    FRACTION = "fraction annotation"
    DEVICE_ANNOTATION = "device annotation"
    ACCESS = "access to all devices"
    """Access that takes no device from other pods: the monitoring resources of Intel, claims with admin access."""


class AcceleratorRequest(Struct, frozen=True, kw_only=True):
    """A request of one pod, by one route under one name."""

    route: Route
    name: str
    """The resource, the device class or the annotation."""
    minimum: quantities.Quantity
    maximum: quantities.Quantity | None
    """None if it has no bound."""
    path: str
    reason: str = ""
    """Why the maximum differs from the minimum."""
    claim: str = ""
    """The claim that pods share; it counts once for all of them."""
    like: str = ""
    """The known device class or resource with the same devices, if usher does not know the class `name`."""
    instead: tuple[str, ...] = ()
    """Device classes that the pod may get instead, each by its name or by its known equivalent."""
    selects: str = ""
    """The resource of the MIG profile that the selectors of a claim choose; empty if they choose no profile."""
    memory: int | None = None
    """Bytes of memory that a claim requests from each device; several claims may share a device."""
    is_share: bool = False
    """Whether a claim takes only a part of each device, and other claims may have the rest."""


class DeviceClaim(Struct, frozen=True, kw_only=True):
    """A device claim of a pod, or the template of one."""

    title: str
    spec: paths.Json
    """The ResourceClaimSpec as written."""
    shared: str = ""
    """The claim that pods share; empty where each pod has its own."""
    node_selector: paths.Json = None
    """The nodes that reach its devices, where it has them already."""
    allocated: bool = False


class UnclearDevices(NamedTuple):
    """A claim or device class that cannot be read, so that pods may get other devices or more."""

    path: str
    reason: str


class Total(Struct, frozen=True, kw_only=True):
    """The requests of all pods of a workload under one name."""

    route: Route
    name: str
    minimum: quantities.Quantity
    maximum: quantities.Quantity | None
    reason: str = ""


class EnvironmentVariable(Struct, frozen=True, kw_only=True):
    """One entry of a container's `env`; `value` is None if it comes from elsewhere (`valueFrom`, `$(OTHER)`)."""

    name: str
    value: str | None
    path: str
    config_map: tuple[str, str] | None = None
    """Name and key of the ConfigMap that the value comes from; None for other sources."""


class EnvironmentSource(Struct, frozen=True, kw_only=True):
    """One entry of a container's `envFrom`."""

    path: str
    prefix: str = ""
    variables: Mapping[str, str] | None = None
    """Variables of the families that rules read; None if usher does not know the object that brings them."""


class Processes(TypedDict):
    """How many processes a launcher starts on one node, and where that is said."""

    number: int
    path: str


class ModelSize(TypedDict):
    """The size of a model, as far as its name tells."""

    context: NotRequired[int]
    cache: NotRequired[int]
    """Tokens of the longest request of vLLM, and gigabytes of its cache, rounded down; absent if they are unknown."""
    name: str
    """The number of its weights, as in its name: 70B."""
    bits: int
    """Bits of each weight."""
    gigabytes: int
    """Gigabytes of its weights, rounded down; at least 1."""
    experts: bool
    """Whether it has experts that the number leaves out, so that it is larger."""
    hub: bool
    """Whether the name is one of a hub, from which the server downloads it, and no path."""
    directory: str
    """Where its command keeps the download; empty if variables decide."""
    gated: str
    """The owner of the model, if the hub gives it to accounts alone and the container has no token; else empty."""


class ModelParallelism(TypedDict):
    """How a model server splits its model over GPUs, and where that is said; `gpus` is the product of the sizes."""

    server: str
    tensor: int
    pipeline: int
    data: int
    gpus: int
    """The GPUs that the server uses in its pod, or in all its pods if it spans several."""
    nodes: int
    """The pods that share the ranks."""
    ownPod: bool
    """Whether its flags say how much of it runs in this pod, so that its other pods do not matter."""
    spans: bool
    """Whether the server may span several pods."""
    customAllReduce: NotRequired[bool]
    """True if its ranks exchange data by a kernel of the server, which opens memory of other processes."""
    model: NotRequired[ModelSize]
    """Absent where its command names no size."""
    path: str


def parallelism(  # noqa: PLR0913 - all that flags say
    server: str,
    sizes: tuple[int, int, int],
    *,
    path: str,
    nodes: int = 1,
    own_pod: bool = False,
    spans: bool = False,
    custom_all_reduce: bool = False,
) -> ModelParallelism:
    """The parallelism of a server with its sizes by tensor, pipeline and data."""
    tensor, pipeline, data = sizes
    found = ModelParallelism(
        server=server,
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        gpus=tensor * pipeline * data // nodes,
        nodes=nodes,
        ownPod=own_pod,
        spans=spans,
        path=path,
    )
    if custom_all_reduce:
        found["customAllReduce"] = True
    return found


class ContainerType(StrEnum):
    """The list that holds a container, in the words of our messages."""

    APP = "container"
    INIT = "init container"
    SIDECAR = "sidecar"
    """An init container with restartPolicy Always, which runs beside the app containers."""
    EPHEMERAL = "ephemeral container"


class Container(Struct, frozen=True, kw_only=True):
    name: str
    path: str
    type: ContainerType
    requests: Resources
    limits: Resources
    environment: tuple[EnvironmentVariable, ...]
    """Only the families of variables that rules read. Of several entries with one name, the last counts."""
    environment_sources: tuple[EnvironmentSource, ...] = ()
    """Entries of `envFrom`. `environment` wins over all of them, and a later entry over an earlier one."""
    operator_variables: Mapping[str, str] | None = None
    """Paths in `env` of variables that the kind's operator sets as well, by name; None where the kind has no operator.
    """
    accelerators: tuple[str, ...] = ()
    """The accelerator resources in its requests or limits."""
    lookalikes: tuple[str, ...] = ()
    """Resources in its requests or limits that look like accelerators, but that neither usher nor usher.yaml knows."""
    meant_resources: Mapping[str, str] = field(default_factory=dict)
    """The known resources that misspelt ones of `lookalikes` are meant for, by the misspelt name."""
    asks_accelerators: bool = False
    """Whether it gets accelerators by any route, or names one with an amount that cannot be read."""
    uses_claims: bool = False
    """Whether it uses a claim of its pod, for accelerators or anything else."""
    trains: bool = False
    """Whether it does the pod's work, so that mutations for training change it."""
    image: str = ""
    command: tuple[str, ...] = ()
    """`command` and `args`, as far as they are texts. They tell the role, and never reach rules."""
    passes_on: tuple[str, ...] = ()
    """Variables that its command hands to the ranks that it starts, of the families that rules read."""
    processes: Processes | None = None
    """None if the launcher computes the number itself, if it is unknown, and without accelerators."""
    parallelism: ModelParallelism | None = None
    """None if it starts no model server that usher knows, or if the number of GPUs is unknown."""
    model_server: str = ""
    """The model server that a container without accelerators starts, if it needs one; else empty."""
    one_text: str = ""
    """Path of a command that is one text with spaces, which no program has as its name; empty for other commands."""
    one_program: str = ""
    """Path of a command that is one Python program without a launcher of ranks; empty for other commands."""
    drain_seconds: int = 0
    """How long its server may finish requests after SIGTERM, by a flag; 0 without one."""
    idle_command: str = ""
    """Path of a command that only waits while the container holds accelerators; empty for other commands."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The other fields that rules read, as in the manifest: the shape `Container` of `kinds.reading.shapes`."""
    environment_path: str = ""
    """Where mutations add variables for it; empty where they use its own `env`."""
    environment_elsewhere: frozenset[str] = frozenset()
    """Names of all its variables, where the kind keeps them outside its own `env`."""
    reserved_environment: frozenset[str] = frozenset()
    """Variables that operators reserve, if it is unknown which operator runs it; like those of a pod set."""
    resources_path: str = ""
    """Where mutations add resources for it; empty where they use its own place."""
    inherited_resources: Mapping[str, Any] | None = None
    """The resources that another object gives it, while nothing is at `resources_path`. A mutation that writes there
    must repeat them. None where they are unknown or cannot be repeated."""
    not_repeated: tuple[str, ...] = ()
    """Devices and claims of another object that its own resources do not repeat, which some operators then drop."""
    field_places: Mapping[str, str] = field(default_factory=dict)
    """The paths of other fields that stand elsewhere, by their path below the container."""
    places: Mapping[str, str] | None = None
    """The paths of `requests` and `limits`, by these keys, in kinds that keep them outside the container."""

    def effective(self, resource: str) -> quantities.Quantity:
        """The amount of a resource that the container asks for: its request, or else its limit.

        API defaulting does the same for Pods, but not for templates inside custom resources
        (docs/domain/principles.md#requests-from-limits).
        """
        if resource in self.requests:
            return self.requests[resource]
        return self.limits.get(resource, quantities.ZERO)

    def first_path(self, resource: str) -> str:
        """The path of a resource in the container's requests, or else in its limits."""
        return self.resource_path("requests" if resource in self.requests else "limits", resource)

    def resource_path(self, list_name: str, resource: str) -> str:
        """The path of an entry of `requests` or `limits`."""
        return paths.join((self.places or {}).get(list_name) or f"{self.path}/resources/{list_name}", resource)
