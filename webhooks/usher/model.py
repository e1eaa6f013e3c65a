"""Our own values, frozen: what a workload is once normalised, and what is said about it.

Every value that a finding or a patch may point at keeps its `path`, a JSON Pointer into the object as it was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from usher import paths, quantities

Resources = Mapping[str, quantities.Quantity]


class Role(StrEnum):
    """What a workload is for; policies differ by it."""

    TRAINING = "training"
    INFERENCE = "inference"
    BATCH = "batch"
    INTERACTIVE = "interactive"
    SERVICE = "service"
    SYSTEM = "system"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Something that cannot be judged: neither a pass nor a violation."""

    path: str
    reason: str
    check: str = ""
    """The check that could not be evaluated, as `category/name`; empty when the object itself could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many pods a template makes; `maximum` is None when nothing bounds it, and `reason` says why."""

    minimum: int
    maximum: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """One entry of a container's `env`; `value` is None when it comes from elsewhere (`valueFrom`)."""

    name: str
    value: str | None
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
    accelerators: tuple[str, ...] = ()
    """The accelerator resources that it names, in requests or limits."""
    claims: int = 0
    """How many device claims (DRA) the container names in `resources.claims`."""

    def effective(self, resource: str) -> quantities.Quantity:
        """What the container asks of a resource: its request, or its limit where it has no request.

        API defaulting does the same for Pods, but not for templates inside custom resources (gpu-domain 0.3).
        """
        if resource in self.requests:
            return self.requests[resource]
        return self.limits.get(resource, quantities.ZERO)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """One pod template of a workload, with how many pods it makes."""

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
    priority_class_name: str
    runtime_class_name: str
    node_name: str
    device_claims: int
    """How many entries `spec.resourceClaims` has."""
    accelerators: Resources
    """Effective request of one pod, by accelerator resource (gpu-domain 1.4)."""
    operator_environment: frozenset[str] = frozenset()
    """Variables that the kind's operator sets itself; names ending in * are prefixes (gpu-domain 1.5)."""
    ranks_inherit_environment: bool = True
    """False where the ranks are started by sshd and do not see the container's environment (MPIJob workers)."""

    @property
    def asks_accelerators(self) -> bool:
        return bool(self.accelerators) or self.device_claims > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """An object that makes pods, normalised."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    role: Role
    owner_kind: str
    """Kind of the controlling owner, empty at the top level. Forgeable: never a reason to trust."""
    deleting: bool
    suspended: bool
    pod_sets: tuple[PodSet, ...]
    unknowns: tuple[Unknown, ...] = ()
    queue_label_path: str | None = None
    """Where Kueue reads its labels: a `metadata` object; None where Kueue has no integration for the kind."""
    queue_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels at that place; empty where there is no such place."""
    gang_policy_path: str | None = None
    """Where the kind keeps its gang settings (`schedulingPolicy` of kubeflow.org kinds); None where it has none."""
    gang_native: bool = False
    """True for kinds that always form their own gang (Volcano Job)."""

    @property
    def is_pod(self) -> bool:
        return self.kind == "Pod" and not self.group

    @property
    def pods(self) -> Count:
        return Count(
            minimum=sum(pod_set.count.minimum for pod_set in self.pod_sets),
            maximum=_sum_bounded([pod_set.count.maximum for pod_set in self.pod_sets]),
        )

    @property
    def accelerators(self) -> Mapping[str, int | None]:
        """Whole devices by resource at the workload's largest; None where nothing bounds the number of pods."""
        totals: dict[str, int | None] = {}
        for pod_set in self.pod_sets:
            for resource, quantity in pod_set.accelerators.items():
                maximum = pod_set.count.maximum
                so_far = totals.get(resource, 0)
                totals[resource] = None if maximum is None or so_far is None else so_far + quantity.value * maximum
        return totals


def _sum_bounded(values: list[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check says: something is wrong at a place."""

    check: str
    """`category/name`, the key into the catalogue."""
    path: str
    message: str
    remedy: str = ""
    assumption: str = ""
    """What the check had to assume about the cluster; such a finding warns at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What a mutation says: this value should be at that place. Never a patch."""

    mutation: str
    """`category/name`, the key into the catalogue."""
    at: str
    """The object (empty), a pod set or a container, by its path."""
    field: str
    value: paths.Json
    reason: str


class Outcome(StrEnum):
    """What follows from a finding, worst first."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A finding with what follows from it and the identity of its check."""

    finding: Finding
    outcome: Outcome
    code: str
    name: str
    because: str = ""
    """Why the outcome is milder than the check's own, where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """All that was decided about one object. Whoever asked, the same object gives the same decision."""

    workload: Workload | None
    """None for objects that make no pods."""
    judgements: tuple[Judgement, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    exemption: str = ""
    """Why the object was not judged; empty when it was."""

    @property
    def allowed(self) -> bool:
        return all(judgement.outcome is not Outcome.DENY for judgement in self.judgements)
