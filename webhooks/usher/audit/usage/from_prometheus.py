"""Series of a Prometheus: questions become PromQL."""

from typing import Final

from usher.audit.usage.series import Answer, Grid, Question, Series
from usher.prometheus import ranges
from usher.prometheus.client import Client

_POD_LABELS: Final = "namespace, pod, exported_namespace, exported_pod"
"""By which series of one pod are joined. The exported ones are there where the scraper keeps its own labels."""


class PrometheusSource:
    """Reads series by the HTTP API of Prometheus."""

    name = "prometheus"

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def url(self) -> str:
        return self._client.url

    def read(self, question: Question, grid: Grid, /) -> Answer:
        """Raises PrometheusError where there is no usable answer."""
        found = ranges.read(
            self._client,
            expression(question, step=grid.step),
            ranges.Range(start=grid.start, step=grid.step, points=grid.points),
        )
        series = tuple(Series(labels=row.labels, first=row.first, values=row.values) for row in found.rows)
        return Answer(series=series, warnings=found.warnings)


def expression(question: Question, *, step: int) -> str:
    """The PromQL of a question for steps of that many seconds."""
    matchers = ", ".join(f'{each.label}=~"{_escaped(each.pattern)}"' for each in question.matchers)
    selector = f"{question.metric}{{{matchers}}}" if matchers else question.metric
    text = f"{question.fold.value}({selector}[{step}s])"
    if question.only_positive:
        text = f"{text} > 0"
    if question.pods_of is None:
        return text
    return f"{text} and on ({_POD_LABELS}) {expression(question.pods_of, step=step)}"


def _escaped(pattern: str) -> str:
    return pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
