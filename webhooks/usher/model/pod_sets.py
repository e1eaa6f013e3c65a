"""One pod template of a workload, with how many pods it makes."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from usher import paths
from usher.dataclass import dataclass
from usher.model.accelerators import AcceleratorRequest, Resources, UnclearDevices
from usher.model.containers import Container


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many pods a template makes; `maximum` is None without a bound, and `reason` gives the reason."""

    minimum: int
    maximum: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """The scheduler of the pods, as far as the object shows; `reason` says why it differs from the template."""

    name: str
    reason: str = ""


class Keyed(NamedTuple):
    """The element of a list with a value under a name. Lists that the API merges by key have at most one."""

    name: str
    value: str


Way = tuple[str | Keyed, ...]
"""A path into an object that may lead through lists whose indexes are not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    name: str
    path: str
    """The path of the template; intents and findings name the pod set by it."""
    metadata_path: str
    spec_path: str
    own_metadata_path: str = ""
    """The metadata that only these pods get, in kinds whose templates also get those of the whole object."""
    count: Count
    in_turns: bool = False
    """Whether more pods follow than run at one time, so that they cannot wait for each other."""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    containers: tuple[Container, ...]
    tolerations: tuple[Mapping[str, paths.Json], ...]
    node_selector: Mapping[str, str]
    required_terms: tuple[Mapping[str, paths.Json], ...]
    """The nodeSelectorTerms of required node affinity; a node must match one of them."""
    has_required_affinity: bool
    scheduler_name: str
    """The scheduler in the template; empty where the template names no scheduler."""
    scheduler: Scheduler
    priority_class_name: str
    runtime_class_name: str
    node_name: str
    placed: bool = False
    """Whether it is an existing Pod, whose node the scheduler may have chosen."""
    scheduling_gates: tuple[str, ...]
    scheduling_group: str
    """The PodGroup of Kubernetes that the pods point at."""
    pod_group: str = ""
    """The scheduler for which the kind's operator makes a PodGroup of the pods; empty where that is unknown."""
    device_claims: int
    """The number of entries in `spec.resourceClaims`, for accelerators or anything else."""
    accelerators: Resources
    """Effective request of one pod, by accelerator resource (docs/domain/requests.md#request-of-one-pod)."""
    requests: tuple[AcceleratorRequest, ...]
    """The accelerator requests of one pod by all routes."""
    unclear_devices: tuple[UnclearDevices, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The other fields of the pod spec that rules read, as in the manifest: the shape `PodSpec` of
    `reading.pod_shapes`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The paths of fields of the pod spec that are not below `spec_path`, by their names."""
    overhead: Resources = field(default_factory=dict)
    pod_requests: Resources = field(default_factory=dict)
    """The requests in `spec.resources`, for the pod as a whole."""
    pod_limits: Resources = field(default_factory=dict)
    operator_environment: frozenset[str] = frozenset()
    """Variables that the kind's operator sets; `*` ends a prefix (docs/domain/kinds.md#variables-of-operators)."""
    ranks_inherit_environment: bool = True
    """False where sshd starts the ranks, so that they do not see the container's environment (MPIJob workers)."""
    changeable: bool = True
    """False where a change of the template would not reach the pods, or would be refused."""
    overrides: Way | None = None
    """For a template that is not changeable: a pod spec that the operator merges over it, if there is one (TrainJob).
    """
    whole: bool = True
    """False if an unknown object sets more fields of the pods; fields that seem to be missing may exist there."""

    @property
    def asks_accelerators(self) -> bool:
        return bool(self.requests)
