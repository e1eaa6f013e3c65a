"""A container of a pod set, as rules see it."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from usher import paths, quantities
from usher.dataclass import dataclass
from usher.model.accelerators import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """One entry of a container's `env`; `value` is None if it comes from elsewhere (`valueFrom`, `$(OTHER)`)."""

    name: str
    value: str | None
    path: str
    config_map: tuple[str, str] | None = None
    """Name and key of the ConfigMap that the value comes from; None for other sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSource:
    """One entry of a container's `envFrom`."""

    path: str
    prefix: str = ""
    variables: Mapping[str, str] | None = None
    """Variables of the families that rules read; None if usher does not know the object that brings them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """How many processes a container's launcher starts on its node, and the path of the number."""

    number: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParallelism:
    """How a model server splits its model over GPUs, and the path of the setting."""

    server: str
    tensor: int
    pipeline: int
    data: int
    path: str
    spans: bool = False
    """Whether the server may span several pods."""

    @property
    def gpus(self) -> int:
        """The GPUs that the server uses."""
        return self.tensor * self.pipeline * self.data


class ContainerType(StrEnum):
    """The list that holds a container, in the words of our messages."""

    APP = "container"
    INIT = "init container"
    SIDECAR = "sidecar"
    """An init container with restartPolicy Always, which runs beside the app containers."""
    EPHEMERAL = "ephemeral container"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
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
    asks_accelerators: bool = False
    """Whether it gets accelerators by any route, or names one with an amount that cannot be read."""
    uses_claims: bool = False
    """Whether it uses a claim of its pod, for accelerators or anything else."""
    trains: bool = False
    """Whether it does the pod's work, so that mutations for training change it."""
    image: str = ""
    command: tuple[str, ...] = ()
    """`command` and `args`, as far as they are texts. They tell the role and never leave the normaliser."""
    passes_on: tuple[str, ...] = ()
    """Variables that its command hands to the ranks that it starts, of the families that rules read."""
    processes: Processes | None = None
    """None if the launcher computes the number itself, if it is unknown, and without accelerators."""
    parallelism: ModelParallelism | None = None
    """None if it starts no model server that usher knows, or if the number of GPUs is unknown."""
    idle_command: str = ""
    """Path of a command that only waits while the container holds accelerators; empty for other commands."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The other fields that rules read, as in the manifest: the shape `Container` of `reading.pod_shapes`."""
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
