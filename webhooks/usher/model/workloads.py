"""An object that makes pods, normalised."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from usher.model.accelerators import Total
from usher.model.pod_sets import Count, PodSet


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
class Owner:
    """The controlling owner that an object names. Anybody can write one: never a reason to trust."""

    group: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Whether the pods must all start together, and what makes them."""

    wanted: bool
    formed_by: str = ""
    """What holds them together, as far as the object tells; empty where nothing does."""
    minimum: int | None = None
    """Pods that must be there at once, where the object says it."""
    scheduler: str = ""
    """For which the operator of the kind makes a PodGroup, where something tells: `volcano` or `coscheduling`."""
    priority_class: str = ""
    """Its PriorityClass, where the object names one beside its templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangPlaces:
    """Where a kind says what makes its pods a gang, as JSON Pointers; None where it has no place for it.

    Labels, annotations and fields alike: each kind has other places (docs/domain/volcano.md#routing).
    """

    queue: str | None = None
    minimum: str | None = None
    """How many pods start together, all of the workload together."""
    priority_class: str | None = None
    scheduler: str | None = None
    """Of the whole object, beside what its templates name."""
    on_templates: bool = False
    """Whether every template must name the scheduler as well; elsewhere the operator writes it there, or nobody may."""
    counted_by_operator: bool = True
    """Whether the operator counts the pods of the gang where the object says nothing; without it one pod is enough."""


NO_GANG_PLACES = GangPlaces()


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
    """None at the top level."""
    deleting: bool
    suspended: bool
    pod_sets: tuple[PodSet, ...]
    gang: Gang
    totals: tuple[Total, ...] = ()
    """Accelerators of all pods together, each name once, in the order of the names."""
    unknowns: tuple[Unknown, ...] = ()
    is_template: bool = False
    """True for what makes pods only when something else refers to it; its counts are those of one use."""
    queue_label_path: str | None = None
    """Where Kueue reads its labels: a `metadata` object; None where Kueue has no integration for the kind."""
    queue_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels at that place; empty where there is no such place."""
    gang_places: GangPlaces = NO_GANG_PLACES
    view: Mapping[str, Any] = field(default_factory=dict)
    """What else rules read of the object, as it is written, below the key of its kind (`usher.views`)."""
    makes_pods: bool = True
    """False for what is judged and is no workload at all: queues, quotas, classes, nodes."""
    exists: bool = False
    """Whether the API server gave it a uid: on CREATE it does so before anybody is asked."""
    gang_native: bool = False
    """True for kinds that always form their own gang (Volcano Job)."""

    @property
    def api_version(self) -> str:
        """As manifests write it: `batch/v1`, `v1`."""
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
