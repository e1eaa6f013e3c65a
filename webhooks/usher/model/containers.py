"""A container of a pod set, as rules see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from usher import paths, quantities
from usher.model.accelerators import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """One entry of a container's `env`; `value` is None when it comes from elsewhere (`valueFrom`, `$(OTHER)`)."""

    name: str
    value: str | None
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """How many processes a container's launcher starts on its node, and where that is said."""

    number: int
    path: str


class ContainerType(StrEnum):
    """Which list a container stands in, in the words of our messages."""

    APP = "container"
    INIT = "init container"
    SIDECAR = "sidecar"
    """An init container with restartPolicy Always: it runs beside the app containers."""
    EPHEMERAL = "ephemeral container"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    name: str
    path: str
    type: ContainerType
    requests: Resources
    limits: Resources
    environment: tuple[EnvironmentVariable, ...]
    """Only the families of variables that rules read; of several entries of one name the last counts."""
    operator_variables: Mapping[str, str] | None = None
    """Where `env` sets variables that the kind's operator sets as well, by their names; None where it has none."""
    accelerators: tuple[str, ...] = ()
    """The accelerator resources that it names, in requests or limits."""
    lookalikes: tuple[str, ...] = ()
    """Resources that it names which nobody has called accelerators, but which look like some."""
    asks_accelerators: bool = False
    """Whether it gets any, by whichever route."""
    uses_claims: bool = False
    """Whether it uses any claim of its pod, whatever that gives it."""
    trains: bool = False
    """Whether it is the one that does the pod's work: it gets what is injected for training."""
    processes: Processes | None = None
    """None where the launcher works the number out itself, where nobody knows it, and without accelerators."""
    idle_command: str = ""
    """Path of a command that does nothing but wait while the container holds accelerators; empty for all others."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else rules read of it, as it is written: the shape `usher.views.pods.Container`."""
    environment_path: str = ""
    """Where variables are added for it; empty where that is its own `env`."""
    environment_elsewhere: frozenset[str] = frozenset()
    """Names of all its variables, where they stand in other lists than its own `env`."""
    reserved_environment: frozenset[str] = frozenset()
    """Variables that operators keep for themselves, where nobody knows which of these it is; as in a pod set."""
    resources_path: str = ""
    """Where resources are added for it; empty where that is where they stand."""
    places: Mapping[str, str] | None = None
    """Where `requests` and `limits` stand, by these keys, in kinds that keep them elsewhere than a container does."""

    def effective(self, resource: str) -> quantities.Quantity:
        """What the container asks of a resource: its request, or its limit where it has no request.

        API defaulting does the same for Pods, but not for templates inside custom resources
        (docs/domain/principles.md#requests-from-limits).
        """
        if resource in self.requests:
            return self.requests[resource]
        return self.limits.get(resource, quantities.ZERO)

    def first_path(self, resource: str) -> str:
        """Where a resource stands that the container names: in its requests, or else in its limits."""
        return self.resource_path("requests" if resource in self.requests else "limits", resource)

    def resource_path(self, list_name: str, resource: str) -> str:
        """Where an entry of `requests` or `limits` stands."""
        return paths.join((self.places or {}).get(list_name) or f"{self.path}/resources/{list_name}", resource)
