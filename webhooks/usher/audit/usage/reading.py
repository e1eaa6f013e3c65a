"""The answers of a source to all questions of an audit, with its failures."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Final

from usher import errors
from usher.audit.usage import labels, metrics
from usher.audit.usage.series import Answer, Grid, Question, Source, ordered
from usher.dataclass import dataclass

DEVICES: Final = (
    metrics.ENGINE_ACTIVE,
    metrics.GPU_UTIL,
    metrics.MEMORY_USED,
    metrics.MEMORY_PEAK,
    metrics.MEMORY_FREE,
    metrics.MEMORY_RESERVED,
    metrics.MEMORY_TOTAL,
    metrics.AMD_ACTIVE,
    metrics.AMD_MEMORY_USED,
    metrics.AMD_MEMORY_PEAK,
    metrics.AMD_MEMORY_TOTAL,
)
PODS: Final = (metrics.REQUESTS, metrics.PHASES, metrics.POD_OWNERS, metrics.REPLICASET_OWNERS, metrics.JOB_OWNERS)
NODES: Final = (metrics.NODE_CAPACITY, metrics.NODE_ALLOCATABLE, metrics.NODE_CORDONED, metrics.NODE_NOT_READY)
OF_CLUSTER: Final = (*NODES, metrics.QUEUE_WAIT)
"""Questions about nodes and queues, which all namespaces share."""

_NAMED: Final = 5
"""The most clusters that one sentence names."""

_ENOUGH: Final = 3
"""The number of metrics with the same failure after which usher asks no more."""

_NOTHING: Final = Answer()


@dataclass(slots=True)
class Readings:
    """Answers by question. `problems` are sentences for the report."""

    answers: dict[Question, Answer] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """The problems that say which metrics got no answer."""

    def of(self, question: Question) -> Answer:
        return self.answers.get(question, _NOTHING)

    @property
    def devices(self) -> Mapping[Question, Answer]:
        return {question: self.of(question) for question in DEVICES}

    @property
    def devices_left_out(self) -> int:
        """The number of device series that belong to other parts of the cluster."""
        return sum(answer.left_out for answer in self.devices.values())

    def forget_devices(self) -> None:
        """Frees the series of devices, which are most of the memory of an audit."""
        for question in DEVICES:
            if question in self.answers:
                self.answers[question] = Answer(left_out=self.answers[question].left_out)

    @property
    def has_requests(self) -> bool:
        """Whether kube-state-metrics shows what pods held. Requests alone do not show when a pod ended."""
        return bool(self.of(metrics.REQUESTS).series and self.of(metrics.PHASES).series)


def read(source: Source, grid: Grid) -> Readings:
    """Asks all questions, until the first one gets no answer or several metrics fail for the same reason.

    It stops early because a server that hangs takes minutes for each question.
    """
    found = Readings()
    missing: dict[str, dict[str, None]] = {}
    warned: dict[str, dict[str, None]] = {}
    for question in (*DEVICES, *PODS, *OF_CLUSTER):
        try:
            answer = source.read(question, grid)
        except errors.PrometheusError as error:
            names = missing.setdefault(str(error), {})
            names[question.metric] = None
            if question is DEVICES[0]:
                break
            if len(names) == _ENOUGH:
                found.problems.append("After these failures usher asked for no further metrics")
                break
            continue
        found.answers[question] = Answer(series=ordered(answer.series), left_out=answer.left_out)
        for warning in answer.warnings:
            warned.setdefault(warning, {})[question.metric] = None
    found.failures = [f"{_named(names)} missing: {reason}" for reason, names in missing.items()]
    found.problems[:0] = found.failures
    found.problems.extend(
        f"{source.name} warns that metrics may be incomplete ({', '.join(names)}): {warning}"
        for warning, names in warned.items()
    )
    found.problems.extend(_of_clusters(found))
    return found


def _named(names: Collection[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _of_clusters(found: Readings) -> Iterator[str]:
    """The effect on the numbers of a Prometheus that scrapes several clusters."""
    held = (*DEVICES, metrics.REQUESTS)
    label, names = labels.clusters(each for question in held for each in found.of(question).series)
    if len(names) > 1:
        shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        yield (
            f"The series are of {len(names)} clusters (label {label}: {shown}), and all of them count. Choose that of "
            f"this audit with --prometheus-label {label}=NAME"
        )
