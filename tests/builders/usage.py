"""Series for tests of usage, a source with a table of them, and the estates that they are about.

The estates are those of `builders.estates`, with pods that are placed when the window begins.
"""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from builders import estates
from builders.objects import GPU
from usher import errors, model
from usher.audit import estate
from usher.audit.usage.series import Answer, Grid, Question, Series
from usher.check.devices import Amount, Devices

H100: Final = estates.H100
A100: Final = "NVIDIA-A100-SXM4-80GB"

BASE: Final = datetime(2026, 3, 2, tzinfo=UTC)
"""Where windows of tests begin."""


def node(name: str, *, gpus: int = 8, capacity: Mapping[str, int] | None = None, **fields: Any) -> estate.Node:
    """A node of `estates.gpu_node`; `capacity` are its devices by resource, instead of whole GPUs."""
    devices = _devices(capacity or {GPU: gpus})
    return estates.gpu_node(name, capacity=devices, allocatable_devices=devices, **fields)


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
    """A pod that was created and placed at `scheduled`."""
    return estates.pod(
        name,
        namespace=namespace,
        phase=phase,
        node=on,
        created=scheduled,
        scheduled=scheduled,
        devices=_devices(devices or {GPU: gpus}),
    )


def _devices(numbers: Mapping[str, int]) -> Devices:
    return {resource: Amount(number=number) for resource, number in numbers.items()}


def workload(
    name: str, *pods: estate.Pod, kind: str = "Job", namespace: str = "red", team: str = "", **fields: Any
) -> estate.Workload:
    """A workload of `estates.entry`, whose pods alone say what it asks for."""
    given = {"uid": f"uid-{namespace}-{name}", "created": BASE, "asks": {}, "gang": False, **fields}
    return estates.entry(kind, name, pods=pods, namespace=namespace, team=team, **given)


def estate_of(nodes: Sequence[estate.Node] | None, *workloads: estate.Workload) -> estate.Estate:
    return estates.estate(nodes=nodes, workloads=workloads)


def deployment(name: str, *pods: estate.Pod, team: str = "", **fields: Any) -> estate.Workload:
    return workload(name, *pods, kind="Deployment", team=team, **{"role": model.Role.INFERENCE, **fields})


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
    selection: str = ""
    left_out: int = 0
    asked: list[Question] = field(default_factory=list)

    def read(self, question: Question, _grid: Grid, /) -> Answer:
        self.asked.append(question)
        if question.metric in self.broken:
            raise errors.PrometheusError("Prometheus at http://p: it cannot be reached")
        warnings = (self.warnings[question.metric],) if question.metric in self.warnings else ()
        return Answer(series=tuple(self.found.get(question.metric, ())), warnings=warnings, left_out=self.left_out)


NAN: Final = math.nan
DAY: Final = timedelta(days=1)
