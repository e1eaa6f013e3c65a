"""The audit document: all that a report shows, as one versioned JSON value.

Analyses write it and reports read it; a report needs nothing else, so a saved document makes the same report later.
Within v1alpha1 fields may be added; fields keep their names and meaning. A number that was not measured is null, never
0. Only `taken` and the measured window differ between two audits of an unchanged cluster.

A document of an earlier version of usher is read as well, if it wrote v1alpha1.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal

import orjson
from pydantic import Field, ValidationError

from usher import errors
from usher.audit.document.audit_entries import (
    Cost,
    ExceptionEntry,
    FindingEntry,
    Group,
    GroupTable,
    Measurement,
    NotEvaluatedEntry,
    NotJudgedEntry,
    Part,
    Prevented,
    PriceEntry,
    Saving,
    Severity,
    Subject,
    Target,
    Usage,
    WorkloadEntry,
    WorkloadState,
)


class AcceleratorEntry(Part):
    """The accelerators of one resource, in units of the resource. Null is not known.

    Each resource counts by itself: a node may offer the same devices by two of them, as Neuron devices and their cores.
    """

    resource: str
    nodes: int | None = None
    """Nodes that have some. Null, as all numbers of nodes here, where nodes are not known, or where no node reports the
    resource although schedulers may give shares of it."""
    capacity: float | None = None
    usable: float | None = None
    """Allocatable on nodes that are ready and not cordoned."""
    allocated: float | None = None
    """Held by pods on nodes; null where pods are not known, as `waiting`."""
    free: float | None = None
    """Usable and not allocated."""
    out_of_use: float | None = None
    """Neither allocated nor free: on nodes that are cordoned or not ready, or not healthy."""
    waiting: float | None = None
    """Wanted by pods without a node, and by suspended workloads beyond what they hold."""
    never: float | None = 0
    """Wanted by workloads that can never run; null where it is not known which workloads wait, and for what."""
    asked: float = 0
    """The most that all workloads ask for."""


class Standing(StrEnum):
    """`not known` is neither a pass nor a failure."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NOT_KNOWN = "not known"
    NOT_APPLICABLE = "does not apply"


class ReadinessItem(Part):
    id: str
    area: str
    """Drivers, monitoring, scheduling, isolation, capacity or recovery."""
    title: str
    standing: Standing
    evidence: tuple[str, ...]
    """The facts that the audit saw, or the reason why the standing is not known."""
    remedy: str = ""
    reference: str = ""
    """The document that asks for it."""
    conformance: str = ""
    """The item of the CNCF AI conformance programme, where there is one."""


class Point(Part):
    """One earlier audit, by its headline numbers; null where it did not measure one."""

    taken: str
    complete: bool
    gpus: float | None = None
    """Null where nodes are not known."""
    gpus_allocated: float | None
    idle: float | None = None
    idle_cost: float | None = None
    not_held: float | None = None
    """GPU-hours that no pod held, and what they cost; audits of an earlier usher have null."""
    not_held_cost: float | None = None
    activity: float | None = None
    findings: int
    never: int | None
    readiness_failed: int = 0


class Entry(Part):
    """A finding that an earlier audit saw first, or that is gone."""

    fingerprint: str
    code: str
    title: str
    subject: str
    first_seen: str
    last_seen: str


class Trend(Part):
    """The comparison with the audit before. `problems` says why one cannot be compared."""

    previous: str = ""
    """When the audit before was taken; empty for the first one."""
    new: tuple[str, ...] = ()
    """Fingerprints of findings that the audit before did not have."""
    fixed: tuple[Entry, ...] = ()
    first_seen: Mapping[str, str] = Field(default={})
    """By fingerprint, for the findings of now."""
    points: tuple[Point, ...] = ()
    """Oldest first, the audit of now included."""
    problems: tuple[str, ...] = ()


class Cluster(Part):
    """`name` is that of the context or of --cluster-name; `server` the version of the API server, where known."""

    name: str
    id: str = ""
    """The uid of the namespace kube-system, which a cluster keeps for its life; empty where it was not read."""
    server: str = ""
    nodes: int | None = None
    """Nodes with accelerators; null where nodes are not known."""
    namespace: str = ""
    """The only namespace that was audited; empty for all."""
    shard: str = ""
    """The shard that was audited, like `3/10`; empty for all of the cluster."""

    @property
    def is_whole(self) -> bool:
        return not self.namespace and not self.shard

    @property
    def title(self) -> str:
        """The audited part of the cluster: `prod`, `namespace ml-research of prod`, `shard 3/10 of prod`."""
        parts = (f"{what} {name}" for what, name in (("shard", self.shard), ("namespace", self.namespace)) if name)
        return " of ".join((*parts, self.name))


class Gap(Part):
    """Something that could not be read: numbers may be too small."""

    source: str
    reason: str
    read: int = 0


class Completeness(Part):
    complete: bool
    gaps: tuple[Gap, ...] = ()
    left_out: tuple[Gap, ...] = ()
    """Left out on purpose: exempt namespaces, kinds that may not be listed."""
    objects: int = 0
    workloads: int = 0
    """Objects that make pods, with accelerators or without; `Summary.workloads` are those with accelerators."""
    pods: int = 0
    finished: int = 0
    checks_without_facts: int = 0
    """Checks that compare with a cluster, while nothing is known of it."""
    not_judged: int = 0
    """Parts of workloads that could not be read: neither a pass nor a violation."""


class Summary(Part):
    """The headline numbers, which `docs/audit.md` explains. GPUs are whole devices."""

    gpus: float | None = None
    """Capacity of the nodes; null where nodes are not known."""
    gpus_allocatable: float | None = None
    gpus_usable: float | None = None
    """Allocatable on nodes that are ready and not cordoned."""
    gpus_allocated: float | None = 0
    """Held by running pods; null where no pods were read, as the next two."""
    gpus_free: float | None = None
    """Allocatable and not allocated, on nodes that are ready and not cordoned."""
    gpus_out_of_use: float | None = None
    """Neither allocated nor free: on nodes that are cordoned or not ready, or not healthy."""
    gpus_not_priced: float | None = None
    """GPUs of nodes, held by pods or not, that have no price."""
    cost_per_hour_allocated: float | None = None
    """Money of one hour at the prices and the GPUs of now, as the next two; null where they have no price."""
    cost_per_hour_free: float | None = None
    cost_per_hour_out_of_use: float | None = None
    gpus_waiting: float | None = 0
    """Wanted by pods that wait, and by suspended workloads."""
    gpus_never: float | None = 0
    """Wanted by workloads that can never run; null where nothing is known of the cluster, or of pods that could wait.
    So is `workloads_never`."""
    gpus_half_started: float | None = 0
    """Held by gangs whose other pods wait."""
    accelerators: Mapping[str, float] = Field(default={})
    """Allocated now, by resource."""
    workloads: int = 0
    """Top-level ones that hold or want accelerators."""
    workloads_never: int | None = 0
    gpus_asked: float | None = None
    """The most that all workloads ask for, without those of `workloads_not_known`; documents of earlier versions have
    null."""
    gpus_asked_least: float | None = None
    """Without the extra pods of rollouts and autoscalers."""
    other_asked: Mapping[str, float] = Field(default={})
    """The most accelerators other than GPUs that all workloads ask for, by resource."""
    workloads_not_known: int = 0
    """Workloads with accelerators that cannot be read."""
    manifests: int = 0
    """Workloads that come from manifests, and not from a cluster."""
    findings: Mapping[str, int] = Field(default={})
    """By outcome."""
    allocated: float | None = None
    """GPU-hours in the window, as `used`, `idle` and `measured`."""
    measured: float | None = None
    used: float | None = None
    idle: float | None = None
    capacity: float | None = None
    """GPU-hours of all nodes in the window: `allocated` + `free` + `out_of_use`. Null without series of nodes."""
    free: float | None = None
    out_of_use: float | None = None
    activity: float | None = None
    memory_share: float | None = None
    currency: str = ""
    cost_allocated: float | None = None
    cost_idle: float | None = None
    cost_free: float | None = None
    """Money for the `free` GPU-hours that have a price; `cost_allocated` does not include it, nor `cost_out_of_use`."""
    cost_out_of_use: float | None = None
    not_priced: float | None = None
    savings_gpu_hours: float | None = None
    savings_cost: float | None = None
    savings_cost_saved: float | None = None
    """The part of `savings_cost` by which the bill falls."""
    savings_cost_freed: float | None = None
    """The part of `savings_cost` that is paid for anyway: the GPUs become free for others."""
    queue_wait_p95_seconds: float | None = None
    exceptions_ending: int = 0
    """Exceptions that end within 14 days."""
    readiness: Mapping[str, int] = Field(default={})
    """Items by standing."""

    @property
    def bill(self) -> float | None:
        """Money of the window for all GPUs, held by pods, free or out of use, of those that have a price.

        None where it was not measured which GPUs the cluster had, or nothing has a price.
        """
        return None if self.capacity is None else _sum(self.cost_allocated, self.cost_free, self.cost_out_of_use)

    @property
    def cost_not_held(self) -> float | None:
        """The part of the bill for GPUs that no pod held."""
        return _sum(self.cost_free, self.cost_out_of_use)

    @property
    def not_held(self) -> float | None:
        """The GPU-hours of the window that no pod held; null without series of nodes."""
        return None if self.free is None or self.out_of_use is None else self.free + self.out_of_use

    @property
    def bill_has_gaps(self) -> bool:
        """Whether some GPUs have no price, so that the bill leaves them out."""
        hours = (
            (self.allocated, self.cost_allocated),
            (self.free, self.cost_free),
            (self.out_of_use, self.cost_out_of_use),
        )
        return bool(self.not_priced or self.gpus_not_priced) or any(each and cost is None for each, cost in hours)

    @property
    def without_gpus(self) -> bool:
        """Whether it is known that no node has GPUs, and no workload holds or wants one."""
        return self.gpus == 0 and not (self.gpus_asked or self.gpus_allocated or self.gpus_waiting)

    @property
    def knows_cluster(self) -> bool:
        """False for manifests alone: nothing of them runs or waits."""
        return any(each is not None for each in (self.gpus, self.gpus_allocated, self.workloads_never))


def _sum(*parts: float | None) -> float | None:
    """None where no part is known."""
    known = [each for each in parts if each is not None]
    return sum(known) if known else None


class Audit(Part):
    api_version: Literal["gpu-usher.io/v1alpha1"] = "gpu-usher.io/v1alpha1"
    kind: Literal["Audit"] = "Audit"
    version: str
    taken: str
    """ISO 8601 in UTC, whole seconds."""
    cluster: Cluster
    configuration: str
    """The file, or `defaults`."""
    preset: str
    check_pages: str = ""
    """`checkPages` of usher.yaml: below it are the pages of checks and of findings about the cluster."""
    completeness: Completeness
    summary: Summary
    measurement: Measurement
    other_accelerators: tuple[AcceleratorEntry, ...] = ()
    """Accelerators other than GPUs, by resource."""
    workloads: tuple[WorkloadEntry, ...] = ()
    findings: tuple[FindingEntry, ...] = ()
    not_evaluated: tuple[NotEvaluatedEntry, ...] = ()
    not_judged: tuple[NotJudgedEntry, ...] = ()
    exceptions: tuple[ExceptionEntry, ...] = ()
    usage: tuple[GroupTable, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    """The prices of all money in this document."""
    targets: tuple[Target, ...] = ()
    savings: tuple[Saving, ...] = ()
    prevented: tuple[Prevented, ...] = ()
    readiness: tuple[ReadinessItem, ...] = ()
    trend: Trend = Trend()

    @property
    def has_usage(self) -> bool:
        """Whether the use of GPUs was measured, or could be: a cluster without GPUs has no use to measure."""
        return self.measurement.source != "none" or not self.summary.without_gpus


LARGEST: Final = 256 * 2**20
"""Bytes. An audit of 100,000 workloads, all measured, takes about half of it."""

_MOST_PROBLEMS: Final = 3


def loads(data: bytes, *, source: str) -> Audit:
    """The document in a file.

    Args:
        source: the name of the file in messages.

    Raises:
        InputError: it is too large, not JSON, another kind of document, or a field is wrong; the message names the
            field.
    """
    if len(data) > LARGEST:
        raise errors.InputError(f"{source}: larger than {LARGEST // 2**20} MiB, so it is not read")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise errors.InputError(f"{source}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    _check_kind(value, source)
    try:
        found = Audit.model_validate(value)
    except ValidationError as error:
        raise errors.InputError(f"{source}: not an audit document: {_validation_problems(error)}") from None
    _check_time(found.taken, source)
    return found


def _check_time(taken: str, source: str) -> None:
    """Raises InputError for a text by which audits cannot be ordered."""
    try:
        datetime.fromisoformat(taken)
    except ValueError:
        raise errors.InputError(
            f"{source}: not an audit document: taken: {taken[:40]!r} is not a time of ISO 8601, for example "
            "2026-03-02T06:00:00Z"
        ) from None


def _check_kind(value: Any, source: str) -> None:  # noqa: ANN401 - any value of JSON
    found = (value.get("apiVersion"), value.get("kind")) if isinstance(value, dict) else (None, None)
    wanted = tuple(Audit.model_fields[name].default for name in ("api_version", "kind"))
    if found == (wanted[0], "Report"):
        raise errors.InputError(
            f"{source}: a list of findings (kind Report), without the rest of an audit; "
            "write one with `usher audit --format json=FILE`"
        )
    if found[1] == wanted[1] and isinstance(found[0], str) and found[0] != wanted[0]:
        raise errors.InputError(
            f"{source}: an audit document of version {found[0][:80]}; this usher reads {wanted[0]}. "
            "Use the usher that wrote it, or make an audit with this one"
        )
    if found != wanted:
        raise errors.InputError(
            f"{source}: not an audit document: apiVersion {wanted[0]} and kind {wanted[1]} are missing"
        )


def _validation_problems(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    shown = [f"{'.'.join(map(str, each['loc']))[:200] or 'document'}: {each['msg'][:200]}" for each in found]
    more = f"; and {len(shown) - _MOST_PROBLEMS} more" if len(shown) > _MOST_PROBLEMS else ""
    return "; ".join(shown[:_MOST_PROBLEMS]) + more
