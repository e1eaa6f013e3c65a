"""One pod template of a workload, with how many pods it makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from usher import paths
from usher.model.accelerators import AcceleratorRequest, Resources
from usher.model.containers import Container


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many pods a template makes; `maximum` is None when nothing bounds it, and `reason` says why."""

    minimum: int
    maximum: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """Who places the pods, as far as the object tells; `reason` says why it is another than the template names."""

    name: str
    reason: str = ""


class Keyed(NamedTuple):
    """The element of a list that has a value under a name: lists that the API merges by key have one at most."""

    name: str
    value: str


Way = tuple[str | Keyed, ...]
"""A path into an object that may lead through lists of which nobody knows the indexes yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    name: str
    path: str
    """The template; intents and findings name the pod set by it."""
    metadata_path: str
    spec_path: str
    count: Count
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    containers: tuple[Container, ...]
    tolerations: tuple[Mapping[str, paths.Json], ...]
    node_selector: Mapping[str, str]
    required_terms: tuple[Mapping[str, paths.Json], ...]
    """The OR-ed nodeSelectorTerms of required node affinity."""
    has_required_affinity: bool
    scheduler_name: str
    """What the template names; empty where it names none."""
    scheduler: Scheduler
    priority_class_name: str
    runtime_class_name: str
    node_name: str
    placed: bool = False
    """Whether it is a Pod that the cluster knows already, whose node may well have been chosen by the scheduler."""
    scheduling_gates: tuple[str, ...]
    scheduling_group: str
    """The in-tree PodGroup that the pods point at."""
    pod_group: str = ""
    """The scheduler for which the kind's operator makes a PodGroup of the pods, where something tells."""
    device_claims: int
    """How many entries `spec.resourceClaims` has, whatever they are for."""
    accelerators: Resources
    """Effective request of one pod, by accelerator resource (docs/domain/requests.md#request-of-one-pod)."""
    requests: tuple[AcceleratorRequest, ...]
    """What one pod asks for by any route."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else rules read of the pod spec, as it is written: the shape `usher.views.pods.PodSpec`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where the fields of the pod spec stand that are not below `spec_path`, by their names."""
    overhead: Resources = field(default_factory=dict)
    pod_requests: Resources = field(default_factory=dict)
    """What `spec.resources` requests for the pod as a whole."""
    pod_limits: Resources = field(default_factory=dict)
    operator_environment: frozenset[str] = frozenset()
    """Variables that the kind's operator sets; `*` ends a prefix (docs/domain/kinds.md#variables-of-operators)."""
    ranks_inherit_environment: bool = True
    """False where the ranks are started by sshd and do not see the container's environment (MPIJob workers)."""
    changeable: bool = True
    """False where a change of the template would not reach the pods, or would be refused."""
    overrides: Way | None = None
    """Where the scheduling fields of such a template are set after all: a pod spec that is laid over it (TrainJob)."""
    whole: bool = True
    """False where something that is not known says more about the pods; what seems to be missing may be there."""

    @property
    def asks_accelerators(self) -> bool:
        return bool(self.requests)
