"""Series of samples on a grid of times, the protocol of what provides them, and what their labels say.

A source is Prometheus, or a synthetic cluster. It answers by the name of a metric, so one that is not Prometheus needs
a table of series by metric and nothing else: it may ignore the fold, and the matchers if its series match them anyway.

A scraper without honor_labels renames the labels of an exporter: its own pod is then `pod`, and the pod that holds the
GPU is `exported_pod`. Where the exporter knows no pod, `pod` is the exporter alone, so it must not count as a holder.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from usher.accelerators import mig


class Grid(Struct, frozen=True, kw_only=True):
    """Equal steps of a window. Point `i`, from 0, ends at `start + (i + 1) * step` and stands for the step before."""

    start: int
    """Seconds since 1970 in UTC."""
    step: int
    """Seconds."""
    points: int

    @property
    def end(self) -> int:
        return self.start + self.points * self.step

    @property
    def hours(self) -> float:
        """Hours of one step."""
        return self.step / 3600

    def time(self, point: int) -> int:
        """The end of the step of a point, in seconds since 1970."""
        return self.start + (point + 1) * self.step

    def hour_of_day(self, point: int) -> int:
        """The hour of the day, in UTC, in which the step of a point begins."""
        return (self.start + point * self.step) // 3600 % 24

    def first_point_after(self, moment: datetime) -> int:
        """The first point whose step begins at that moment or later; from 0 to the number of points."""
        return min(max(-(-(int(moment.timestamp()) - self.start) // self.step), 0), self.points)


class Fold(StrEnum):
    """How the samples within a step become one value, as functions of PromQL."""

    MEAN = "avg_over_time"
    PEAK = "max_over_time"
    LAST = "last_over_time"


class Matcher(Struct, frozen=True, kw_only=True):
    """Only series whose label matches the whole pattern, in the syntax of RE2."""

    label: str
    pattern: str


class Question(Struct, frozen=True, kw_only=True):
    """The series of one metric."""

    metric: str
    also: str = ""
    """Another name that some exporters give to the metric."""
    fold: Fold = Fold.MEAN
    matchers: tuple[Matcher, ...] = ()
    only_positive: bool = False
    """Leaves out values of 0 and below."""
    pods_of: "Question | None" = None
    """Keeps only series of pods that this question has too. It bounds metrics that every pod of a cluster has."""


class Series(Struct, frozen=True, kw_only=True):
    """The values of one set of labels, from point `first` on; NaN for a step without a sample."""

    labels: Mapping[str, str]
    first: int
    values: Sequence[float]


class Answer(Struct, frozen=True, kw_only=True):
    """The series in the order of their labels; `warnings` name data that a source knows to be missing."""

    series: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    """The number of series that a source leaves out because they belong to other parts of the cluster."""


class Source(Protocol):
    """A source of series.

    `read` raises `errors.PrometheusError` if it gets no usable answer.
    """

    @property
    def name(self) -> str:
        """`prometheus` or `demo`, as in `Measurement.source`."""
        ...

    @property
    def url(self) -> str:
        """The address without user and password; empty if the source has no address."""
        ...

    @property
    def selection(self) -> str:
        """The labels by which a user chose series, as `cluster=prod`; empty if all series count."""
        ...

    def read(self, question: Question, grid: Grid, /) -> Answer: ...


def ordered_series(series: Sequence[Series]) -> tuple[Series, ...]:
    """The series in the order of their labels, so that the same cluster always gives the same numbers."""
    return tuple(sorted(series, key=lambda each: (sorted(each.labels.items()), each.first)))


_STEPS: Final = (60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
_MOST_POINTS: Final = 1100


def grid_of_window(window: timedelta, *, now: datetime, step: timedelta | None = None) -> Grid:
    """The steps of a window. The last one ends at the latest multiple of the step before `now`."""
    length = int(window.total_seconds())
    each = int(step.total_seconds()) if step else next((s for s in _STEPS if length <= s * _MOST_POINTS), _STEPS[-1])
    each = max(each, 1)
    points = max(length // each, 1)
    end = int(now.timestamp()) // each * each
    return Grid(start=end - points * each, step=each, points=points)


BRIDGED_POINTS: Final = 2
"""The longest hole, in points, that takes the value before it. Longer holes are not measured."""


class Line(Struct, frozen=True, kw_only=True):
    """Values from point `first` on; NaN at points without a measurement."""

    first: int
    values: "array[float]"

    @property
    def end(self) -> int:
        """The point after the last one."""
        return self.first + len(self.values)

    def at(self, point: int) -> float:
        """The value at a point; NaN outside of the line."""
        place = point - self.first
        return self.values[place] if 0 <= place < len(self.values) else math.nan


def spread_values(line: Line, first: int, end: int) -> "array[float]":
    """The values of the points from `first` up to, and without, `end`; NaN outside of the line."""
    if first == line.first and end == line.end:
        return line.values
    before = max(min(line.first, end) - first, 0)
    kept = line.values[max(first - line.first, 0) : max(end - line.first, 0)]
    found = array("d", [math.nan]) * before + kept
    return found + array("d", [math.nan]) * (end - first - len(found))


EMPTY_LINE: Final = Line(first=0, values=array("d"))


def merged_line(series: Iterable[Series], *, usable: Callable[[float], bool] = math.isfinite) -> Line:
    """One line of several series; where several have a value, the first series wins."""
    parts = [each for each in series if each.values]
    if not parts:
        return EMPTY_LINE
    first = min(each.first for each in parts)
    if len(parts) == 1:
        return _trimmed_line(first, array("d", [value if usable(value) else math.nan for value in parts[0].values]))
    values = array("d", [math.nan]) * (max(each.first + len(each.values) for each in parts) - first)
    for each in parts:
        offset = each.first - first
        for place, value in enumerate(each.values, start=offset):
            if math.isnan(values[place]) and usable(value):
                values[place] = value
    return _trimmed_line(first, values)


def bridged(line: Line, *, most: int = BRIDGED_POINTS) -> Line:
    """The line with its short holes filled by the values before them."""
    values = array("d", line.values)
    for start, end in holes(values):
        if start > 0 and end - start <= most:
            for place in range(start, end):
                values[place] = values[start - 1]
    return Line(first=line.first, values=values)


def cut_line(line: Line, start: int, end: int) -> Line:
    """The part of a line from `start` up to, and without, `end`."""
    first = max(start, line.first)
    return Line(first=first, values=line.values[first - line.first : max(end, first) - line.first])


def mapped_line(line: Line, change: Callable[[float], float]) -> Line:
    """The line with each measured value changed."""
    values = array("d", [value if math.isnan(value) else change(value) for value in line.values])
    return Line(first=line.first, values=values)


def scaled_line(line: Line, factor: float) -> Line:
    return mapped_line(line, lambda value: value * factor)


def holes(values: Sequence[float]) -> Iterator[tuple[int, int]]:
    """The runs of NaN, each with its start and the place after its end."""
    start = -1
    for place, value in enumerate(values):
        if math.isnan(value):
            start = place if start < 0 else start
        elif start >= 0:
            yield start, place
            start = -1
    if start >= 0:
        yield start, len(values)


def _trimmed_line(first: int, values: "array[float]") -> Line:
    start, end = 0, len(values)
    while start < end and math.isnan(values[start]):
        start += 1
    while end > start and math.isnan(values[end - 1]):
        end -= 1
    return Line(first=first + start, values=values[start:end]) if start < end else EMPTY_LINE


Labels = Mapping[str, str]

_EXPORTERS: Final = ("dcgm-exporter", "dcgm_exporter", "metrics-exporter")
"""Parts of the names of pods and containers that measure GPUs: NVIDIA's and AMD's exporters."""

_NODE_LABELS: Final = (
    *("exported_node", "node", "kubernetes_node", "nodename", "node_name", "NodeName", "k8s_node_name"),
    *("Hostname", "exported_hostname", "hostname", "exported_instance", "instance"),
)
"""Labels that name the node. `Hostname` is the node if the exporter knows it (NODE_NAME), else the name of the
exporter's pod.
"""

_CLUSTER_LABELS: Final = ("cluster", "cluster_name", "k8s_cluster_name", "cluster_id")

_UNDIVIDED: Final = frozenset({"", "spx", "na"})
"""Modes of AMD's GPUs that do not divide them."""


class PodName(NamedTuple):
    namespace: str
    pod: str


class Device(NamedTuple):
    """A GPU or a MIG device; `instance` is empty for a whole GPU."""

    gpu: str
    instance: str


class KnownNodes(Struct, frozen=True, kw_only=True):
    """The known node names, which show that the value of a label is a node."""

    names: frozenset[str]
    short: Mapping[str, str]
    """Full names by their part before the first dot, if only one name has that part."""


def known_nodes(names: Iterable[str]) -> KnownNodes:
    known = frozenset(names)
    short: dict[str, str] = {}
    for name in sorted(known):
        part = name.partition(".")[0]
        short[part] = "" if part in short else name
    return KnownNodes(names=known, short={part: name for part, name in short.items() if name})


def node_of(labels: Labels, known: KnownNodes) -> str:
    """The node of a series; empty if no label names a known node."""
    for key in _NODE_LABELS:
        value = labels.get(key, "")
        if key.endswith("instance"):
            value = value.rpartition(":")[0] or value
        name = value if value in known.names else known.short.get(value, "")
        if name:
            return name
    return ""


def device_of(labels: Labels, known: KnownNodes) -> Device:
    """The device of a series of DCGM or of AMD's exporter.

    The UUID identifies a GPU; without it, the node and the number on the node do. dcgm-exporter calls it `uuid` when it
    writes the names of its first version (render_metrics.go).
    """
    host = node_of(labels, known) or labels.get("Hostname") or labels.get("hostname") or labels.get("instance", "")
    number = labels.get("gpu") or labels.get("gpu_id", "")
    uuid = labels.get("UUID") or labels.get("gpu_uuid") or labels.get("uuid", "")
    mode = labels.get("gpu_compute_partition_type", "").lower()
    partition = f"{mode} {number}.{labels.get('gpu_partition_id', '')}" if mode not in _UNDIVIDED else ""
    gpu = uuid or f"{host}/{labels.get('serial_number', '')}/{number}"
    return Device(gpu=gpu, instance=labels.get("GPU_I_ID", "") or partition)


def clusters_of(series: Iterable[Series]) -> tuple[str, list[str]]:
    """The label that names the clusters of the series, and its values; empty if no label does."""
    found = list(series)
    for name in _CLUSTER_LABELS:
        values = {each.labels[name] for each in found if each.labels.get(name)}
        if values:
            return name, sorted(values)
    return "", []


def renamed_labels(series: Iterable[Series]) -> frozenset[tuple[str, str]]:
    """The jobs, each with a label of the exporter that their scraper renames: `namespace`, `pod`, or both.

    Google's collector sets a namespace and no pod, so it renames only the namespace.
    """
    return frozenset(
        (each.labels.get("job", ""), name)
        for each in series
        for name in ("namespace", "pod")
        if each.labels.get(f"exported_{name}")
    )


def holder_of(labels: Labels, changed: frozenset[tuple[str, str]]) -> PodName | None:
    """The pod that holds the device of a series; None if the exporter names no pod.

    Args:
        labels: the labels of the series.
        changed: the labels that scrapers renamed, from all series.
    """
    job = labels.get("job", "")
    is_changed = [(job, name) in changed for name in ("namespace", "pod")]
    namespace, name = (
        labels.get(f"exported_{name}" if each else name, "")
        for name, each in zip(("namespace", "pod"), is_changed, strict=True)
    )
    found = _pod_name(namespace, name)
    if any(is_changed):
        return found
    old = _pod_name(labels.get("pod_namespace", ""), labels.get("pod_name", ""))
    if old is not None:
        return old
    return None if found is None or _is_exporter(labels, found) else found


def pod_of(labels: Labels) -> PodName | None:
    """The pod that a series of kube-state-metrics is about."""
    return _pod_name(label_value(labels, "namespace"), label_value(labels, "pod"))


def label_value(labels: Labels, name: str) -> str:
    """A label of kube-state-metrics that a scraper may have renamed."""
    return labels.get(f"exported_{name}") or labels.get(name, "")


def _pod_name(namespace: str, name: str) -> PodName | None:
    return PodName(namespace, name) if namespace and name else None


def _is_exporter(labels: Labels, found: PodName) -> bool:
    names = (found.pod, labels.get("container", ""))
    return found.pod == labels.get("Hostname") or any(part in name for part in _EXPORTERS for name in names)


_RESOURCES: Final = {
    "nvidia_com_gpu": "nvidia.com/gpu",
    "nvidia_com_gpu_shared": "nvidia.com/gpu.shared",
    "amd_com_gpu": "amd.com/gpu",
    "intel_com_gpu": "intel.com/gpu",
    "gpu_intel_com_i915": "gpu.intel.com/i915",
    "gpu_intel_com_xe": "gpu.intel.com/xe",
}
_MIG_RESOURCE: Final = re.compile(
    r"nvidia_com_mig_(?P<slices>\dg)_(?P<size>\d+gb)(?P<variant>(?:_me|_me_all|_gfx|__me)?)"
)


def resource_of(name: str) -> str:
    """The resource for a name of kube-state-metrics; the name itself if unknown."""
    match = _MIG_RESOURCE.fullmatch(name)
    if match is None:
        return _RESOURCES.get(name, name)
    variant = {"": "", "_me": ".me", "_me_all": ".me.all", "_gfx": ".gfx", "__me": "-me"}[match["variant"]]
    return f"{mig.MIG_RESOURCE_PREFIX}{match['slices']}.{match['size']}{variant}"
