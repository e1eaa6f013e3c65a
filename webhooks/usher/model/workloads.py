"""An object that makes pods, normalised."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from usher.dataclass import dataclass
from usher.model.accelerators import Total
from usher.model.pod_sets import Count, PodSet


class Role(StrEnum):
    """The purpose of a workload; policies differ by it."""

    TRAINING = "training"
    INFERENCE = "inference"
    BATCH = "batch"
    INTERACTIVE = "interactive"
    SERVICE = "service"
    SYSTEM = "system"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A part that cannot be judged: neither a pass nor a violation."""

    path: str
    reason: str
    check: str = ""
    """The check that could not be evaluated, as `category/name`; empty when the object itself could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The controlling owner that an object names. Any user can write one: never a reason to trust the object."""

    group: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Whether the pods must all start together, and how this is enforced."""

    wanted: bool
    waits: bool = field(default=False, compare=False)
    """Whether the pods wait for each other by their kind or program, whether or not a gang is formed."""
    formed_by: str = ""
    """The mechanism that forms the gang, as far as the object shows; empty without one."""
    minimum: int | None = None
    """How many pods must start at once, where the object says so."""
    scheduler: str = ""
    """The scheduler for which the kind's operator makes a PodGroup: `volcano` or `coscheduling`; empty if unknown."""
    priority_class: str = ""
    """The PriorityClass of the gang, where the object names one outside its templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangPlaces:
    """The labels, annotations and fields by which a kind makes its pods a gang, as JSON Pointers.

    A pointer is None where the kind has no place for the setting (docs/domain/volcano.md#routing).
    """

    queue: str | None = None
    minimum: str | None = None
    """How many pods of the whole workload start together."""
    priority_class: str | None = None
    scheduler: str | None = None
    """The scheduler of the whole object, beside the ones of its templates."""
    on_templates: bool = False
    """Whether every template must name the scheduler too; in other kinds the operator writes it there."""
    counted_by_operator: bool = True
    """Whether the operator counts the pods of the gang where the object does not; otherwise one pod is enough."""


NO_GANG_PLACES = GangPlaces()


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecyclePlaces:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    role: Role
    owner: Owner | None
    """None for an object without an owner."""
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
