"""Series of a Prometheus: questions become PromQL."""

from typing import Final

from usher.audit.usage.series import Answer, Grid, Question, Series
from usher.prometheus import ranges
from usher.prometheus.client import Client

Labels = tuple[tuple[str, str], ...]

_POD_LABELS: Final = "namespace, pod, exported_namespace, exported_pod"
"""By which series of one pod are joined. The exported ones are there where the scraper keeps its own labels."""


class PrometheusSource:
    """Reads series by the HTTP API of Prometheus."""

    name = "prometheus"

    def __init__(self, client: Client, *, only: Labels = ()) -> None:
        """`only` are the labels that all series must have, as names and values."""
        self._client = client
        self._only = only

    @property
    def url(self) -> str:
        return self._client.url

    @property
    def selection(self) -> str:
        return ", ".join(f"{label}={value}" for label, value in self._only)

    def read(self, question: Question, grid: Grid, /) -> Answer:
        """Raises PrometheusError where there is no usable answer."""
        found = ranges.read(
            self._client,
            self.expression(question, step=grid.step),
            ranges.Range(start=grid.start, step=grid.step, points=grid.points),
        )
        series = tuple(Series(labels=row.labels, first=row.first, values=row.values) for row in found.rows)
        return Answer(series=series, warnings=found.warnings)

    def expression(self, question: Question, *, step: int) -> str:
        """The PromQL of a question for steps of that many seconds."""
        text = self._of_metric(question.metric, question, step)
        if question.also:
            text = f"({text} or {self._of_metric(question.also, question, step)})"
        if question.only_positive:
            text = f"{text} > 0"
        if question.pods_of is None:
            return text
        return f"{text} and on ({_POD_LABELS}) {self.expression(question.pods_of, step=step)}"

    def _of_metric(self, name: str, question: Question, step: int) -> str:
        found = [f'{each.label}=~"{_escaped(each.pattern)}"' for each in question.matchers]
        found += [f'{label}="{_escaped(value)}"' for label, value in self._only]
        selector = f"{name}{{{', '.join(found)}}}" if found else name
        return f"{question.fold.value}({selector}[{step}s])"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
