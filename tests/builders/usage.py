"""Estates and series for tests of usage: nodes, workloads with their pods, and a source with a table of series."""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from usher import errors, model
from usher.audit import estate
from usher.audit.estate import CapacityType
from usher.audit.usage.series import Answer, Grid, Question, Series
from usher.scan.devices import Amount
from usher.scan.findings import Identity

H100: Final = "NVIDIA-H100-80GB-HBM3"
A100: Final = "NVIDIA-A100-SXM4-80GB"
GPU: Final = "nvidia.com/gpu"

BASE: Final = datetime(2026, 3, 2, tzinfo=UTC)
"""Where windows of tests begin."""


def node(
    name: str,
    *,
    gpus: int = 8,
    product: str = H100,
    capacity: Mapping[str, int] | None = None,
    capacity_type: CapacityType = CapacityType.ON_DEMAND,
    labels: Mapping[str, str] | None = None,
    shared_by: int = 1,
) -> estate.Node:
    devices = {key: Amount(number=number) for key, number in (capacity or {GPU: gpus}).items()}
    return estate.Node(
        name=name,
        labels={"nvidia.com/gpu.product": product, **(labels or {})},
        capacity=devices,
        allocatable=devices,
        product=product,
        capacity_type=capacity_type,
        shared_by=shared_by,
    )


def pod(
    name: str,
    *,
    namespace: str = "red",
    on: str = "n1",
    gpus: int = 1,
    devices: Mapping[str, int] | None = None,
    phase: estate.Phase = estate.Phase.RUNNING,
    scheduled: datetime | None = BASE,
) -> estate.Pod:
    return estate.Pod(
        namespace=namespace,
        name=name,
        uid=f"uid-{name}",
        phase=phase,
        node=on,
        created=scheduled,
        scheduled=scheduled,
        devices={key: Amount(number=number) for key, number in (devices or {GPU: gpus}).items()},
    )


def workload(
    name: str,
    *pods: estate.Pod,
    namespace: str = "red",
    kind: str = "Job",
    api_version: str = "batch/v1",
    role: model.Role = model.Role.TRAINING,
    team: str = "",
    queue: str = "",
    priority: str = "",
) -> estate.Workload:
    return estate.Workload(
        identity=Identity(api_version=api_version, kind=kind, namespace=namespace, name=name),
        uid=f"uid-{namespace}-{name}",
        created=BASE,
        role=role,
        wanted=model.Count(minimum=len(pods), maximum=len(pods)),
        asks={},
        pods=pods,
        team=team,
        queue=queue,
        priority=priority,
    )


def estate_of(nodes: Sequence[estate.Node] | None, *workloads: estate.Workload) -> estate.Estate:
    return estate.Estate(nodes=None if nodes is None else tuple(nodes), workloads=workloads)


def deployment(
    name: str, *pods: estate.Pod, role: model.Role = model.Role.INFERENCE, team: str = ""
) -> estate.Workload:
    return workload(name, *pods, kind="Deployment", api_version="apps/v1", role=role, team=team)


Value = float | Callable[[int], float]
"""A value for all points, or by point; NaN where there is no sample."""


def series(value: Value, points: int, *, first: int = 0, **labels: str) -> Series:
    """A series of so many points."""
    values = [value(point) if callable(value) else value for point in range(first, first + points)]
    return Series(labels=labels, first=first, values=array("d", values))


def dcgm(value: Value, points: int, *, gpu: int = 0, on: str = "n1", first: int = 0, **labels: str) -> Series:
    """A series of dcgm-exporter for one GPU: `pod` and `namespace` where a pod holds it."""
    named = {"gpu": str(gpu), "UUID": f"GPU-{on}-{gpu}", "Hostname": on, "modelName": "NVIDIA H100 80GB HBM3", **labels}
    return series(value, points, first=first, **named)


@dataclass(slots=True, kw_only=True)
class Table:
    """A source that has series by metric; `broken` metrics raise PrometheusError."""

    found: Mapping[str, Sequence[Series]]
    broken: frozenset[str] = frozenset()
    warnings: Mapping[str, str] = field(default_factory=dict)
    name: str = "demo"
    url: str = ""
    asked: list[Question] = field(default_factory=list)

    def read(self, question: Question, _grid: Grid, /) -> Answer:
        self.asked.append(question)
        if question.metric in self.broken:
            raise errors.PrometheusError("Prometheus at http://p: it cannot be reached")
        warnings = (self.warnings[question.metric],) if question.metric in self.warnings else ()
        return Answer(series=tuple(self.found.get(question.metric, ())), warnings=warnings)


NAN: Final = math.nan
DAY: Final = timedelta(days=1)
