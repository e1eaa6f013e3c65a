"""The document of a fleet: audits of many clusters, or of the shards of large ones, as one versioned JSON value.

Every number is the sum of the numbers of the parts; null where no part has it. Tables are bounded: the rows after the
largest ones are summed in `rest`. Money is never summed over currencies.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from usher.audit.document.audit_entries import Cost, GpuHours, Part, Severity, Subject


class FleetUsage(GpuHours):
    """As `Usage`, with one cost for each currency.

    The share of memory is the mean of the parts, each weighted with its measured GPU-hours.
    """

    costs: tuple[Cost, ...] = ()
    not_priced: float | None = None


class SavingSum(Part):
    """Savings that add up; `costs` by currency."""

    number: int = 0
    gpu_hours: float = 0
    costs: Mapping[str, float] = Field(default={})


class FleetSummary(Part):
    """The headline numbers of the fleet. GPUs are whole devices, hours those of the measured windows."""

    clusters: int
    clusters_complete: int
    clusters_missing: int = 0
    """Clusters of the list of the run (`--clusters`) that have no part at all: they are in no other number."""
    gpus: float | None = None
    """Capacity of the clusters whose nodes are known; null where no cluster's are."""
    gpus_allocatable: float | None = None
    gpus_allocated: float | None = None
    """GPUs that pods hold, of the clusters whose pods are known. `gpus_waiting`, `gpus_never` and `gpus_half_started`
    are of the same clusters."""
    gpus_free: float | None = None
    """Allocatable and not allocated, of the clusters whose nodes and pods are all known."""
    gpus_waiting: float | None = None
    gpus_never: float | None = None
    gpus_half_started: float | None = None
    clusters_without_nodes: int = 0
    """Clusters whose nodes are not known: their GPUs are missing in the capacity."""
    clusters_without_pods: int = 0
    """Clusters whose pods are not known: what they hold and want is missing."""
    clusters_without_free: int = 0
    """Clusters whose nodes are known and not all of their pods, for example because a shard is missing: their free GPUs
    are not known."""
    clusters_not_measured: int = 0
    """Clusters without measured usage: their idle hours are missing."""
    workloads: int = 0
    workloads_never: int | None = None
    objects: int = 0
    pods: int = 0
    findings: Mapping[str, int] = Field(default={})
    """By outcome."""
    severities: Mapping[str, int] = Field(default={})
    usage: FleetUsage = FleetUsage()
    savings: SavingSum = SavingSum()
    exceptions_ending: int = 0


class FleetRow(Part):
    """One cluster, or the sum of clusters after the largest."""

    name: str
    clusters: int = 1
    id: str = ""
    server: str = ""
    version: str = ""
    """The usher that audited it."""
    taken: str = ""
    """When its newest part was taken."""
    complete: bool = True
    shards: int = 1
    shards_missing: int = 0
    nodes: int | None = None
    gpus: float | None = None
    gpus_allocatable: float | None = None
    gpus_allocated: float | None = None
    gpus_free: float | None = None
    gpus_waiting: float | None = None
    gpus_never: float | None = None
    gpus_half_started: float | None = None
    workloads: int = 0
    workloads_never: int | None = None
    objects: int = 0
    pods: int = 0
    findings: int = 0
    findings_before: int | None = None
    """In the earlier document; null where it did not have the cluster."""
    usage: FleetUsage = FleetUsage()
    idle_before: float | None = None
    readiness_failed: int | None = None


class GroupRow(Part):
    """The sum of one team, product or other group in all clusters. `name` is empty for workloads without a group."""

    name: str
    clusters: int
    workloads: int
    usage: FleetUsage
    findings: int | None = None
    """Only of teams, because findings have no other group."""


class FleetTable(Part):
    """`by`: team, namespace, queue, priority, product or capacityType; idle hours first."""

    by: str
    rows: tuple[GroupRow, ...]
    rest: GroupRow | None = None
    """The sum of all further rows; its name is their number."""


class AcceleratorRow(Part):
    """Accelerators other than GPUs, of one resource, in units of the resource. Null is not known."""

    resource: str
    clusters: int
    """Clusters that have or want some."""
    nodes: int | None = None
    capacity: float | None = None
    """The capacity of the clusters where it is known."""
    allocated: float | None = None
    waiting: float | None = None
    never: float | None = None


class CodeRow(Part):
    """The findings of one code. `where` has the clusters with the most of them."""

    code: str
    name: str
    title: str
    severity: Severity
    findings: int
    clusters: int
    gpus: float = 0
    never: int = 0
    """Findings which mean that a workload can never run."""
    before: int | None = None
    where: tuple[tuple[str, int], ...] = ()


class NamedSubject(Part):
    """An object of one of the clusters."""

    cluster: str
    subject: Subject


class IdleWorkload(NamedSubject):
    team: str = ""
    gpus_now: float = 0
    idle: float
    """GPU-hours."""
    cost: float | None = None
    currency: str = ""


class FleetSaving(NamedSubject):
    kind: str
    team: str = ""
    change: str
    gpu_hours: float
    cost: float | None = None
    currency: str = ""


class ReadinessRow(Part):
    """One item of the checklist: in how many clusters it has which standing."""

    id: str
    area: str
    title: str
    standings: Mapping[str, int]
    failing: tuple[str, ...] = ()
    """Some of the clusters where it fails."""


class ProblemKind(StrEnum):
    """Why numbers of the fleet may be wrong, or not comparable."""

    MISSING = "missing shard"
    ABSENT = "missing cluster"
    INCOMPLETE = "incomplete"
    DAMAGED = "damaged"
    DOUBLED = "doubled"
    VERSION = "other version"
    AGE = "old"


class FleetProblem(Part):
    kind: ProblemKind
    cluster: str
    """Empty where the record does not say it."""
    reason: str
    number: int = 1
    """Parts that it is about."""


class FleetPoint(Part):
    taken: str
    complete: bool
    clusters: int
    gpus: float | None = None
    gpus_allocated: float | None = None
    allocated: float | None = None
    idle: float | None = None
    idle_costs: Mapping[str, float] = Field(default={})
    activity: float | None = None
    findings: int = 0
    never: int | None = None


class FleetTrend(Part):
    """The comparison with earlier documents. Points are the oldest first, the one of now included."""

    previous: str = ""
    points: tuple[FleetPoint, ...] = ()
    clusters_new: tuple[str, ...] = ()
    clusters_gone: tuple[str, ...] = ()


class Fleet(Part):
    api_version: Literal["gpu-usher.io/v1alpha1"] = "gpu-usher.io/v1alpha1"
    kind: Literal["FleetAudit"] = "FleetAudit"
    version: str
    """The usher that merged."""
    taken: str
    """When the newest part was taken."""
    oldest: str
    complete: bool
    problems: tuple[FleetProblem, ...] = ()
    problems_left_out: int = 0
    summary: FleetSummary
    clusters: tuple[FleetRow, ...]
    clusters_rest: FleetRow | None = None
    tables: tuple[FleetTable, ...] = ()
    other_accelerators: tuple[AcceleratorRow, ...] = ()
    """By number, the largest first."""
    findings: tuple[CodeRow, ...] = ()
    idle_workloads: tuple[IdleWorkload, ...] = ()
    savings: tuple[FleetSaving, ...] = ()
    readiness: tuple[ReadinessRow, ...] = ()
    trend: FleetTrend = FleetTrend()
