"""The metrics that usage is read from, with their units, and the answers of a source about all of them.

How long workloads waited in queues is the time within which 95 % of them were admitted.

Sources: NVIDIA/dcgm-exporter etc/dcp-metrics-included.csv; ROCm/device-metrics-exporter pkg/amdgpu/gpuagent;
kubernetes/kube-state-metrics docs/metrics/workload and docs/metrics/cluster/node-metrics.md;
kubernetes-sigs/kueue site/content/en/docs/reference/metrics.md.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher import errors, paths
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Scope
from usher.audit.usage import series
from usher.audit.usage.series import Answer, Fold, Grid, Matcher, Question, Source, ordered_series

MEBIBYTE: Final = 2**20

ENGINE_ACTIVE: Final = Question(metric="DCGM_FI_PROF_GR_ENGINE_ACTIVE")
"""Share of the time in which the graphics or compute engine was active: 0 to 1, for MIG devices too."""
GPU_UTIL: Final = Question(metric="DCGM_FI_DEV_GPU_UTIL")
"""Share of the time in which any kernel ran: 0 to 100. It is always 0 for MIG devices."""
MEMORY_USED: Final = Question(metric="DCGM_FI_DEV_FB_USED")
"""In MiB, like all framebuffer metrics of DCGM."""
MEMORY_PEAK: Final = Question(metric="DCGM_FI_DEV_FB_USED", fold=Fold.PEAK)
MEMORY_FREE: Final = Question(metric="DCGM_FI_DEV_FB_FREE")
MEMORY_RESERVED: Final = Question(metric="DCGM_FI_DEV_FB_RESERVED")
"""Memory of the driver; it is part of the total, but neither used nor free."""
MEMORY_TOTAL: Final = Question(metric="DCGM_FI_DEV_FB_TOTAL")

# MetricsFieldPrefix of AMD's exporter adds a prefix to all names; its example uses `amd_`.
AMD_ACTIVE: Final = Question(metric="gpu_gfx_activity", also="amd_gpu_gfx_activity")
"""In percent."""
AMD_MEMORY_USED: Final = Question(metric="gpu_used_vram", also="amd_gpu_used_vram")
"""In MiB, which the exporter calls MB."""
AMD_MEMORY_PEAK: Final = Question(metric="gpu_used_vram", also="amd_gpu_used_vram", fold=Fold.PEAK)
AMD_MEMORY_TOTAL: Final = Question(metric="gpu_total_vram", also="amd_gpu_total_vram")

_OF_GPUS: Final = Matcher(
    label="resource", pattern="nvidia_com_(gpu.*|mig_.*)|amd_com_gpu|(gpu_)?intel_com_(gpu|i915|xe)"
)
REQUESTS: Final = Question(
    metric="kube_pod_container_resource_requests",
    fold=Fold.LAST,
    matchers=(_OF_GPUS,),
)
"""Requests by container. kube-state-metrics writes `_` for each character of a resource name that is not a letter or
digit.
"""
PHASES: Final = Question(
    metric="kube_pod_status_phase",
    fold=Fold.LAST,
    matchers=(Matcher(label="phase", pattern="Pending|Running|Unknown"),),
    only_positive=True,
    pods_of=REQUESTS,
)
"""1 for the current phase of a pod. A pod in one of these phases holds its devices once it is on a node."""
POD_OWNERS: Final = Question(metric="kube_pod_owner", fold=Fold.LAST, pods_of=REQUESTS)
REPLICASET_OWNERS: Final = Question(
    metric="kube_replicaset_owner",
    fold=Fold.LAST,
    matchers=(Matcher(label="owner_kind", pattern="Deployment|Rollout"),),
)
JOB_OWNERS: Final = Question(
    metric="kube_job_owner", fold=Fold.LAST, matchers=(Matcher(label="owner_kind", pattern="[A-Z].*"),)
)

NODE_CAPACITY: Final = Question(metric="kube_node_status_capacity", fold=Fold.LAST, matchers=(_OF_GPUS,))
NODE_ALLOCATABLE: Final = Question(metric="kube_node_status_allocatable", fold=Fold.LAST, matchers=(_OF_GPUS,))
"""Excludes unhealthy devices."""
NODE_CORDONED: Final = Question(metric="kube_node_spec_unschedulable", fold=Fold.LAST, only_positive=True)
NODE_NOT_READY: Final = Question(
    metric="kube_node_status_condition",
    fold=Fold.LAST,
    matchers=(Matcher(label="condition", pattern="Ready"), Matcher(label="status", pattern="false|unknown")),
    only_positive=True,
)

QUEUE_WAIT: Final = Question(metric="kueue_admission_wait_time_seconds_bucket", fold=Fold.LAST)
"""Cumulative counts by `le`: the time from the creation of a Workload, or its return to the queue, until
its admission.
"""

OF_DEVICES: Final = (
    ENGINE_ACTIVE,
    GPU_UTIL,
    MEMORY_USED,
    MEMORY_PEAK,
    MEMORY_FREE,
    MEMORY_RESERVED,
    MEMORY_TOTAL,
    AMD_ACTIVE,
    AMD_MEMORY_USED,
    AMD_MEMORY_PEAK,
    AMD_MEMORY_TOTAL,
)
OF_PODS: Final = (REQUESTS, PHASES, POD_OWNERS, REPLICASET_OWNERS, JOB_OWNERS)
OF_NODES: Final = (NODE_CAPACITY, NODE_ALLOCATABLE, NODE_CORDONED, NODE_NOT_READY)
OF_CLUSTER: Final = (*OF_NODES, QUEUE_WAIT)
"""Questions about nodes and queues, which all namespaces share."""

_MOST_NAMED: Final = 5
"""The most clusters that one sentence names."""

_ENOUGH: Final = 3
"""The number of metrics with the same failure after which usher asks no more."""

_NO_ANSWER: Final = Answer()


class Readings(Struct):
    """Answers by question. `problems` are sentences for the report."""

    answers: dict[Question, Answer] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """The problems that say which metrics got no answer."""

    def of(self, question: Question) -> Answer:
        return self.answers.get(question, _NO_ANSWER)

    @property
    def devices(self) -> Mapping[Question, Answer]:
        return {question: self.of(question) for question in OF_DEVICES}

    @property
    def devices_left_out(self) -> int:
        """The number of device series that belong to other parts of the cluster."""
        return sum(answer.left_out for answer in self.devices.values())

    def forget_devices(self) -> None:
        """Frees the series of devices, which are most of the memory of an audit."""
        for question in OF_DEVICES:
            if question in self.answers:
                self.answers[question] = Answer(left_out=self.answers[question].left_out)

    @property
    def has_requests(self) -> bool:
        """Whether kube-state-metrics shows what pods held. Requests alone do not show when a pod ended."""
        return bool(self.of(REQUESTS).series and self.of(PHASES).series)


def read_all(source: Source, grid: Grid) -> Readings:
    """Asks all questions, until the first one gets no answer or several metrics fail for the same reason.

    It stops early because a server that hangs takes minutes for each question.
    """
    found = Readings()
    missing: dict[str, dict[str, None]] = {}
    warned: dict[str, dict[str, None]] = {}
    for question in (*OF_DEVICES, *OF_PODS, *OF_CLUSTER):
        try:
            answer = source.read(question, grid)
        except errors.PrometheusError as error:
            names = missing.setdefault(str(error), {})
            names[question.metric] = None
            if question is OF_DEVICES[0]:
                break
            if len(names) == _ENOUGH:
                found.problems.append("After these failures usher asked for no further metrics")
                break
            continue
        found.answers[question] = Answer(series=ordered_series(answer.series), left_out=answer.left_out)
        for warning in answer.warnings:
            warned.setdefault(warning, {})[question.metric] = None
    found.failures = [f"{_named_metrics(names)} missing: {reason}" for reason, names in missing.items()]
    found.problems[:0] = found.failures
    found.problems.extend(
        f"{source.name} warns that metrics may be incomplete ({', '.join(names)}): {warning}"
        for warning, names in warned.items()
    )
    found.problems.extend(_cluster_problems(found))
    return found


def _named_metrics(names: Collection[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _cluster_problems(found: Readings) -> Iterator[str]:
    """The effect on the numbers of a Prometheus that scrapes several clusters."""
    held = (*OF_DEVICES, REQUESTS)
    label, names = series.clusters_of(each for question in held for each in found.of(question).series)
    if len(names) > 1:
        shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
        yield (
            f"The series are of {len(names)} clusters (label {label}: {shown}), and all of them count. Choose that of "
            f"this audit with --prometheus-label {label}=NAME"
        )


SHARE_ADMITTED: Final = 0.95

_WORKLOADS: Final = ("kueue.x-k8s.io", "Workload")

_LATE_COUNTER: Final = 3
"""A counter whose series begins this many points after the start of the window, or later, began at 0."""


def queue_wait(estate: Estate, answer: Answer, *, start: datetime | None) -> tuple[float | None, str]:
    """The wait in seconds and how it was computed: from the metrics of Kueue, else from its Workloads since `start`."""
    if answer.series:
        formula = f"histogram_quantile(0.95) over the growth of {QUEUE_WAIT.metric} of all queues"
        return histogram_wait(answer), formula
    formula = "95th percentile of Admitted - creationTimestamp of the Workloads of Kueue admitted in the window"
    listed = estate.objects.get(_WORKLOADS, ())
    if start is None or not isinstance(listed, Sequence):
        return None, formula
    return workloads_wait(listed, start=start), formula


def histogram_wait(answer: Answer) -> float | None:
    """Seconds from the counters of a histogram, interpolated within a bucket as `histogram_quantile` of PromQL does.

    If the quantile lies beyond the last finite bound, it is that bound: the real wait may be longer. None if the
    histogram is empty.
    """
    buckets: dict[float, float] = {}
    for each in answer.series:
        bound = _bound(each.labels.get("le", ""))
        if bound is not None:
            buckets[bound] = buckets.get(bound, 0.0) + counter_increase(each.values, first=each.first)
    counts = sorted(buckets.items())
    finite = [bound for bound, _ in counts if bound < math.inf]
    if not finite or counts[-1][0] != math.inf or not counts[-1][1] > 0:
        return None
    rank, below, passed = SHARE_ADMITTED * counts[-1][1], 0.0, 0.0
    for bound, count in counts:
        if count >= rank:
            if bound == math.inf:
                return finite[-1]
            return below + (bound - below) * ((rank - passed) / (count - passed)) if count > passed else bound
        below, passed = bound, count
    return finite[-1]


def counter_increase(values: Sequence[float], *, first: int) -> float:
    """The growth of a counter. A value below the one before means that the counter restarted at 0."""
    before = 0.0 if first >= _LATE_COUNTER else math.nan
    grown = 0.0
    for value in values:
        if math.isnan(value):
            continue
        if not math.isnan(before):
            grown += value - before if value >= before else value
        before = value
    return grown


def workloads_wait(objects: Iterable[paths.Object], *, start: datetime) -> float | None:
    """Seconds from the Workloads of Kueue that still exist and were admitted since `start`."""
    waits = sorted(wait for value in objects if (wait := _admission_wait(value, start)) is not None)
    return waits[math.ceil(SHARE_ADMITTED * len(waits)) - 1] if waits else None


def _admission_wait(value: paths.Object, start: datetime) -> float | None:
    created = fields.time_of(paths.metadata(value).get("creationTimestamp"))
    if created is None:
        return None
    for each in fields.mappings(paths.mapping(value.get("status")).get("conditions")):
        if each.get("type") == "Admitted" and each.get("status") == "True":
            admitted = fields.time_of(each.get("lastTransitionTime"))
            if admitted is not None and admitted >= max(start, created):
                return (admitted - created).total_seconds()
    return None


def _bound(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


_OF_ALL_PODS: Final = frozenset(OF_CLUSTER)


def source_of_part(source: Source, scope: Scope) -> Source:
    """A source for a part of a cluster; the given source for the whole."""
    return source if scope.is_whole else PartialSeries(source, scope)


class PartialSeries:
    """A source without the series of other parts, so that each GPU-hour counts in one part.

    Series of a device that no pod holds stay, because only the workloads of its node show who uses it. Series of nodes
    and queues cover the whole cluster, so usher does not ask for them.
    """

    def __init__(self, source: Source, scope: Scope) -> None:
        self._source = source
        self._scope = scope

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def url(self) -> str:
        return self._source.url

    @property
    def selection(self) -> str:
        return self._source.selection

    def read(self, question: Question, grid: Grid, /) -> Answer:
        if question in _OF_ALL_PODS:
            return Answer()
        found = self._source.read(question, grid)
        namespace = self._of_device(found) if question in OF_DEVICES else _namespace_of_pod
        own = tuple(each for each in found.series if self._is_own(namespace(each.labels)))
        return replace(found, series=own, left_out=len(found.series) - len(own))

    def _is_own(self, namespace: str) -> bool:
        return not namespace or self._scope.has(namespace)

    def _of_device(self, answer: Answer) -> Callable[[Mapping[str, str]], str]:
        """A function that gives the namespace of the pod that holds a device; the label `namespace` alone may be the
        exporter's.
        """
        renamed = series.renamed_labels(answer.series)

        def namespace(found: Mapping[str, str]) -> str:
            holder = series.holder_of(found, renamed)
            return "" if holder is None else holder.namespace

        return namespace


def _namespace_of_pod(found: Mapping[str, str]) -> str:
    return series.label_value(found, "namespace")
