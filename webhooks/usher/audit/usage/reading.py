"""The answers of a source to all questions of an audit, with what went wrong."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from usher import errors
from usher.audit.usage import metrics
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

_NOTHING: Final = Answer()


@dataclass(slots=True)
class Readings:
    """Answers by question. `problems` are sentences for the report."""

    answers: dict[Question, Answer] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def of(self, question: Question) -> Answer:
        return self.answers.get(question, _NOTHING)

    @property
    def devices(self) -> Mapping[Question, Answer]:
        return {question: self.of(question) for question in DEVICES}

    def forget_devices(self) -> None:
        """Lets go of the series of devices, which are most of the memory of an audit."""
        for question in DEVICES:
            self.answers.pop(question, None)

    @property
    def has_requests(self) -> bool:
        """Whether kube-state-metrics says what pods held: requests alone do not say when a pod ended."""
        return bool(self.of(metrics.REQUESTS).series and self.of(metrics.PHASES).series)


def read(source: Source, grid: Grid) -> Readings:
    """Asks everything. Where the first question gets no answer, the others are not asked."""
    found = Readings()
    for question in (*DEVICES, *PODS, *NODES, metrics.QUEUE_WAIT):
        try:
            answer = source.read(question, grid)
        except errors.PrometheusError as error:
            found.problems.append(f"{question.metric} is missing: {error}")
            if question is DEVICES[0]:
                break
            continue
        found.answers[question] = Answer(series=ordered(answer.series))
        for warning in answer.warnings:
            text = f"{source.name} warns that {question.metric} may be incomplete: {warning}"
            if text not in found.problems:
                found.problems.append(text)
    return found
