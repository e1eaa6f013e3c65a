"""An object that makes pods, normalised: the workload, its pod sets and what their operator does with them.

Also findings and intents about a workload, and the decision that follows.
"""

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import Struct, field

from usher import paths
from usher.model.containers import AcceleratorRequest, Container, DeviceClaim, Resources, Total, UnclearDevices


class Count(Struct, frozen=True, kw_only=True, gc=False):
    """How many pods a template makes; `maximum` is None without a bound, and `reason` gives the reason."""

    minimum: int
    maximum: int | None
    reason: str = ""
    grown: int = 0
    """The most pods that an autoscaler may keep, without those of a rollout; 0 without one or without a bound."""


class Scheduler(Struct, frozen=True, kw_only=True):
    """The scheduler of the pods, as far as the object shows; `reason` says why it differs from the template."""

    name: str
    reason: str = ""


class Keyed(NamedTuple):
    """The element of a list with a value under a name. Lists that the API merges by key have at most one."""

    name: str
    value: str


Way = tuple[str | Keyed, ...]
"""A path into an object that may lead through lists whose indexes are not known yet."""


class Unit(NamedTuple):
    """A group of pods whose GPUs one model server may use together."""

    name: str
    """Pod sets with the same name are parts of the same groups."""
    pods: int
    """The pods of the pod set in one group."""


class PodSet(Struct, frozen=True, kw_only=True):
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
    later: bool = False
    """Whether its pods are made only when pods of other sets run, so that no gang may wait for them."""
    groups: int = 1
    """Into how many equal groups its pods are divided: the Jobs of a JobSet, the groups of a LeaderWorkerSet."""
    together: int | None = None
    """How many of its pods a PodGroup of the operator waits for; None where its kind does not say."""
    unit: Unit | None = None
    """None in kinds whose model servers use one pod each, and where usher does not know."""
    serves_as: str = ""
    """The work of its pods in serving a model: prefill, decode, router, planner, frontend; empty where unknown."""
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
    claims: tuple[DeviceClaim, ...] = ()
    """These claims, without those that are not known."""
    accelerators: Resources
    """Effective request of one pod, by accelerator resource (docs/domain/requests.md#request-of-one-pod)."""
    requests: tuple[AcceleratorRequest, ...]
    """The accelerator requests of one pod by all routes."""
    unclear_devices: tuple[UnclearDevices, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The other fields of the pod spec that rules read, as in the manifest: the shape `PodSpec` of
    `kinds.reading.shapes`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The paths of fields of the pod spec that are not below `spec_path`, by their names."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The fields that the author wrote, by the paths of what an operator makes of them: findings name the former."""
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
    fully_known: bool = True
    """False if an unknown object sets more fields of the pods; fields that seem to be missing may exist there."""

    @property
    def asks_accelerators(self) -> bool:
        return bool(self.requests)


class Role(StrEnum):
    """The purpose of a workload; policies differ by it."""

    TRAINING = "training"
    INFERENCE = "inference"
    BATCH = "batch"
    INTERACTIVE = "interactive"
    SERVICE = "service"
    SYSTEM = "system"
    UNKNOWN = "unknown"


class Unknown(Struct, frozen=True, kw_only=True):
    """A part that cannot be judged: neither a pass nor a violation."""

    path: str
    reason: str
    check: str = ""
    """The check that could not be evaluated, as `category/name`; empty when the object itself could not be read."""


class Owner(Struct, frozen=True, kw_only=True):
    """The controlling owner that an object names. Any user can write one: never a reason to trust the object."""

    group: str
    kind: str
    name: str


GANG_IF_CONFIGURED = "its operator, if it is configured to"
"""Who forms a gang whose object has a number of pods that start together, but names no group."""

GANG_OF_KUBERNETES = "a PodGroup of Kubernetes, if its policy is gang and the cluster has GenericWorkload on"
"""The API server drops `schedulingGroup` while the feature is off, as it is by default (KEP-4671)."""

GANG_OF_JOBS = "the Job controller, if the cluster has WorkloadWithJob on"
"""Off by default in Kubernetes 1.37; earlier releases do not have the field (KEP-5547)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Whether the pods must all start together, and how this is enforced."""

    wanted: bool
    waits: bool = dataclasses.field(default=False, compare=False)
    """Whether the pods wait for each other by their kind or program, whether or not a gang is formed."""
    formed_by: str = ""
    """The mechanism that forms the gang, as far as the object shows; empty without one."""
    minimum: int | None = None
    """How many pods must start at once, where the object says so."""
    scheduler: str = ""
    """The scheduler for which the kind's operator makes a PodGroup: `volcano` or `coscheduling`; empty if unknown."""
    priority_class: str = ""
    """The PriorityClass of the gang, where the object names one outside its templates."""


class GangPlaces(Struct, frozen=True, kw_only=True):
    """The labels, annotations and fields by which a kind makes its pods a gang, as JSON Pointers.

    A pointer is None where the kind has no place for the setting (docs/domain/volcano.md#routing).
    """

    queue: str | None = None
    minimum: str | None = None
    """How many pods of the whole workload start together."""
    own_minimum: str | None = None
    """The same in a kind by description: usher reads it, and does not set it."""
    priority_class: str | None = None
    scheduler: str | None = None
    """The scheduler of the whole object, beside the ones of its templates."""
    native: str | None = None
    """The field by which its controller makes a PodGroup of Kubernetes."""
    on_templates: bool = False
    """Whether every template must name the scheduler too; in other kinds the operator writes it there."""
    counted_by_operator: bool = True
    """Whether the operator counts the pods of the gang where the object does not; otherwise one pod is enough."""


NO_GANG_PLACES = GangPlaces()


class LifecyclePlaces(Struct, frozen=True, kw_only=True):
    """The fields of a kind that end its objects or hand them over, as JSON Pointers; None for missing fields.

    Sources: docs/domain/lifecycle.md.
    """

    ttl: str | None = None
    """Seconds after which a finished object is deleted."""
    ttl_switch: str | None = None
    """A boolean without which the time has no effect."""
    ttl_rivals: tuple[str, ...] = ()
    """Fields with the same purpose; if the author wrote one of them, usher adds no time."""
    deadline: str | None = None
    """Seconds that the object may run."""
    deadline_rivals: tuple[str, ...] = ()
    managed_by: str | None = None
    """The controller of the object, which Kueue sets for MultiKueue."""
    managed_by_default: str = ""
    """The controller that the CRD writes where the author names no controller."""


NO_LIFECYCLE_PLACES = LifecyclePlaces()


class Excess(Struct, frozen=True, kw_only=True):
    """The part of an object that is too much to judge."""

    path: str
    what: str
    """The field with too many entries; empty if only the whole object is too much."""
    number: int
    text: str
    """The excess and the limit, as a message goes on after `has`."""
    remedy: str


class UnreadKey(Struct, frozen=True, kw_only=True):
    """A key that nothing reads, a missing field, a value that its field does not take, an unknown kind, or a name that
    leads to nothing.
    """

    path: str
    text: str
    remedy: str
    important: bool
    """Whether an amount of GPUs, a container, a toleration, a selector or a queue hangs on it."""
    refused: bool = False
    """Whether the key exists, and the API server refuses its value."""
    dangling: bool = False
    """Whether it is a name that leads to nothing: to no part of the object if important, else to no other object."""
    kept: bool = False
    """Whether the API server keeps the key or value, because the definition of the kind takes any there."""
    topic: str = ""
    """The subject of a check of its own, for example `variable`; without one, the other fields decide."""


class Workload(Struct, frozen=True, kw_only=True):
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    role: Role
    owner: Owner | None
    """None for an object without an owner, and where usher does not believe the one that it names."""
    deleting: bool
    suspended: bool
    pod_sets: tuple[PodSet, ...]
    gang: Gang
    totals: tuple[Total, ...] = ()
    """The accelerators of all pods together, each name once, sorted by name."""
    unknowns: tuple[Unknown, ...] = ()
    is_template: bool = False
    """True for an object that makes pods only when another refers to it; its counts are those of one use."""
    queue_label_path: str | None = None
    """Where Kueue reads its labels: a `metadata` object; None where Kueue has no integration for the kind."""
    queue_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels at that place; empty without one."""
    gang_places: GangPlaces = NO_GANG_PLACES
    lifecycle_places: LifecyclePlaces = NO_LIFECYCLE_PLACES
    claimed_owner: Owner | None = None
    """The owner that the object names and that usher does not believe; rules judge the object by itself."""
    managed_by: str = ""
    """The controller that the object names; empty without one, and for the default of its CRD."""
    view: Mapping[str, Any] = field(default_factory=dict)
    """The other fields that rules read, as in the manifest, below the key of the kind."""
    makes_pods: bool = True
    """False for objects that are judged but are not workloads: queues, quotas, classes, nodes."""
    exists: bool = False
    """Whether the API server gave it a uid; on CREATE it does so before it asks webhooks."""
    gang_native: bool = False
    """True for kinds that always form their own gang (Volcano Job)."""
    role_reason: str = ""
    """The reason for the role, and a label that does not count; empty for objects without pods."""
    role_refusal: str = ""
    """Why the label that names a role does not count; empty if it counts, or without a label."""
    excess: Excess | None = None
    """Why usher judges nothing else of the object; None for an object that it judges."""
    unread_keys: tuple[UnreadKey, ...] = ()
    """For an object in a cluster only keys that its definition keeps: the API server drops or refuses all others."""

    @property
    def api_version(self) -> str:
        """The API version, as manifests write it: `batch/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_pod(self) -> bool:
        return self.kind == "Pod" and not self.group

    @property
    def asks_accelerators(self) -> bool:
        return any(pod_set.asks_accelerators for pod_set in self.pod_sets)

    @property
    def pods(self) -> Count:
        maxima = [pod_set.count.maximum for pod_set in self.pod_sets]
        known = [maximum for maximum in maxima if maximum is not None]
        reasons = dict.fromkeys(part for pod_set in self.pod_sets for part in pod_set.count.reason.split("; ") if part)
        return Count(
            minimum=sum(pod_set.count.minimum for pod_set in self.pod_sets),
            maximum=sum(known) if len(known) == len(maxima) else None,
            reason="; ".join(reasons),
        )


GATEKEEPER: Final = "gatekeeper/"
"""The start of the key of a Gatekeeper policy, instead of the category of a check."""


class Need(Struct, frozen=True, kw_only=True):
    """An object of the cluster that the value of an intent needs. Without that object the intent is not applied."""

    group: str
    kind: str
    name: str
    namespace: str = ""
    """Empty for cluster-scoped kinds."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that it must have, each with the accepted values; an empty value accepts a missing label."""


class Finding(Struct, frozen=True, kw_only=True):
    """The result of a check: something is wrong at a place."""

    check: str
    """`category/name`, the key into the catalogue."""
    path: str
    message: str
    remedy: str = ""
    assumption: str = ""
    """An assumption of the check about the cluster; with one, the finding warns at most."""
    noted: bool = False
    """Whether only the site can confirm the assumption, so that presets other than `strict` note the finding."""
    missing: Need | None = None
    """The missing object that a finding is about; no report prints it."""


class Note(Struct, frozen=True, kw_only=True):
    """A warning of a mutation about something that it does not change, with the reason."""

    mutation: str
    """As in an Intent; `at` too."""
    at: str
    reason: str


class Intent(Struct, frozen=True, kw_only=True):
    """The result of a mutation: this value should be at that place. Never a patch."""

    mutation: str
    """`category/name`, the key into the catalogue."""
    at: str
    """The object (empty), a pod set or a container, by its path."""
    field: str
    value: paths.Json
    reason: str
    needs: tuple[Need, ...] = ()


class Outcome(StrEnum):
    """The consequence of a finding, worst first."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"


class Judgement(Struct, frozen=True, kw_only=True):
    """A finding with its outcome, and with the code and name of its check."""

    finding: Finding
    outcome: Outcome
    code: str
    name: str
    because: str = ""
    """Why the outcome is milder than the check's own; empty if it is not milder."""
    exception: int | None = None
    """The exception of usher.yaml that covers it, counted from 0; None without one."""
    suppressed: bool = False
    """Whether the author of the object suppresses it, and usher.yaml lets authors do that."""

    @property
    def of_gatekeeper(self) -> bool:
        """Whether a policy of Gatekeeper found it; then the code is the kind of its constraint."""
        return self.finding.check.startswith(GATEKEEPER)

    @property
    def rule(self) -> str:
        """The rule in logs: the code of a check, or kind and name of a constraint."""
        return f"{self.code}/{self.name}" if self.of_gatekeeper else self.code

    @property
    def series(self) -> str:
        """The rule in metrics: the name of a check, or the key of a policy of Gatekeeper."""
        return self.finding.check if self.of_gatekeeper else self.name


class Decision(Struct, frozen=True, kw_only=True):
    """The decision about one object: the same in a webhook, in CI and in an audit."""

    workload: Workload | None
    """None for objects that make no pods."""
    judgements: tuple[Judgement, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    exemption: str = ""
    """Why the object was not judged; empty if it was."""
    unprotected: bool = False
    """Whether a mutation that protects others, and whose absence no check finds, has something to add."""
    missed: tuple[str, ...] = ()
    """Mutations that the object lacks, if they would have removed a finding."""
    try_again: bool = False
    """Whether the object must wait for these mutations: the mutating webhook has to answer first."""

    @property
    def allowed(self) -> bool:
        return not self.try_again and all(judgement.outcome is not Outcome.DENY for judgement in self.judgements)
