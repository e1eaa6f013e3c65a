"""Series of a Prometheus: questions become PromQL, and queries over a range of time are split into parts that
Prometheus answers.
"""

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from usher import errors
from usher.audit.prometheus.query_client import Client, TooMuchError
from usher.audit.usage.series import Answer, Grid, Question, Series

MOST_POINTS: Final = 11_000
"""The most points of one series in one answer of Prometheus (prometheus/prometheus web/api/v1/api.go)."""

FEWEST_POINTS: Final = 24
"""usher does not split a range with fewer points."""

MOST_SAMPLES: Final = 40_000_000
"""The most samples of one query. They take 320 MB."""

_MOST_LABELS: Final = 256
_LONGEST_LABEL: Final = 2048
_MOST_WARNINGS: Final = 8

Labels = tuple[tuple[str, str], ...]


class Range(Struct, frozen=True, kw_only=True):
    """Points at `start + step`, `start + 2 * step` and so on, in seconds since 1970."""

    start: int
    step: int
    points: int


class Row(Struct, frozen=True, kw_only=True):
    """One series: the values from point `first` on; NaN where Prometheus has no value."""

    labels: Mapping[str, str]
    first: int
    values: "array[float]"


class Rows(Struct, frozen=True, kw_only=True):
    rows: tuple[Row, ...]
    warnings: tuple[str, ...]


class _Gathered(Struct):
    first: int
    values: "array[float]" = field(default_factory=lambda: array("d"))


def read_range(client: Client, expression: str, asked: Range, *, most_samples: int = MOST_SAMPLES) -> Rows:
    """The series of a PromQL expression, in the order of their labels.

    It splits a part of the range in two if its answer is too large or takes too long.

    Raises:
        PrometheusError: there is no usable answer, or the series have more samples than fit.
    """
    gathered: dict[Labels, _Gathered] = {}
    warnings: dict[str, None] = {}
    samples = 0
    for offset, value in _parts(client, expression, asked, offset=0, points=asked.points):
        warnings |= dict.fromkeys(client.said(text) for text in _warnings(value))
        for labels, first, values in _series(client, value, asked, offset=offset):
            samples += _append(gathered, labels, first, values)
            if samples > most_samples:
                raise errors.PrometheusError(
                    f"Prometheus at {client.url}: {expression} has more than {most_samples} samples; choose a shorter "
                    "--window or a longer --step"
                )
    rows = [Row(labels=dict(labels), first=each.first, values=each.values) for labels, each in sorted(gathered.items())]
    return Rows(rows=tuple(rows), warnings=tuple(warnings))


def _parts(
    client: Client, expression: str, asked: Range, *, offset: int, points: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The answers to the parts of a range from point `offset` on, each with the offset where it begins."""
    if points > MOST_POINTS:
        half = -(-points // 2)
        yield from _parts(client, expression, asked, offset=offset, points=half)
        yield from _parts(client, expression, asked, offset=offset + half, points=points - half)
        return
    query = {
        "query": expression,
        "start": str(asked.start + (offset + 1) * asked.step),
        "end": str(asked.start + (offset + points) * asked.step),
        "step": str(asked.step),
    }
    try:
        answer = client.get("/api/v1/query_range", query)
    except TooMuchError:
        if points < 2 * FEWEST_POINTS:
            raise
    else:
        yield offset, answer
        return
    half = points // 2
    yield from _parts(client, expression, asked, offset=offset, points=half)
    yield from _parts(client, expression, asked, offset=offset + half, points=points - half)


def _warnings(value: Mapping[str, Any]) -> list[str]:
    found = value.get("warnings")
    texts = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if value.get("isPartial") is True:
        # An answer of a VictoriaMetrics cluster that misses one of its storage nodes.
        texts.append("the answer is partial, because a part of the storage did not answer")
    return texts[:_MOST_WARNINGS]


def _series(
    client: Client, value: Mapping[str, Any], asked: Range, *, offset: int
) -> "Iterator[tuple[Labels, int, array[float]]]":
    """The labels of each series, its first point, and its values from there on.

    Raises:
        PrometheusError: the answer is not a matrix of the range.
    """
    data = value.get("data")
    if not isinstance(data, dict) or data.get("resultType") != "matrix" or not isinstance(data.get("result"), list):
        raise _unusable(client, "it has no matrix")
    for each in data["result"]:
        if not isinstance(each, dict):
            raise _unusable(client, "a series is not an object")
        pairs = each.get("values", [])
        if not isinstance(pairs, list) or len(pairs) > MOST_POINTS:
            raise _unusable(client, "the values of a series are not a list of the range")
        labels = _labels(client, each.get("metric"))
        if pairs:
            yield labels, *_values(client, pairs, asked, offset=offset)


def _labels(client: Client, value: object) -> Labels:
    if not isinstance(value, dict) or len(value) > _MOST_LABELS:
        raise _unusable(client, "the labels of a series are not an object")
    for key, text in value.items():
        if not isinstance(text, str) or len(text) > _LONGEST_LABEL or len(key) > _LONGEST_LABEL:
            raise _unusable(client, "a label is not a text, or too long")
    return tuple(sorted(value.items()))


def _values(client: Client, pairs: list[Any], asked: Range, *, offset: int) -> "tuple[int, array[float]]":
    """The first point of a series, and its values from there on."""
    try:
        points = [round((at - asked.start) / asked.step) - 1 for at, _ in pairs]
        numbers = array("d", [float(text) for _, text in pairs])
    except (TypeError, ValueError, OverflowError):
        raise _unusable(client, "a sample is not a time and a number") from None
    first, last = min(points), max(points)
    if first < offset or last >= asked.points:
        raise _unusable(client, "a sample is outside of the range")
    values = array("d", [math.nan]) * (last - first + 1)
    for point, number in zip(points, numbers, strict=True):
        if math.isfinite(number):
            values[point - first] = number
    return first, values


def _append(gathered: dict[Labels, _Gathered], labels: Labels, first: int, values: "array[float]") -> int:
    """Adds values to a series, and returns how many values were added, including gaps. The first of two values for a
    point stays.
    """
    known = gathered.setdefault(labels, _Gathered(first=first))
    before = len(known.values)
    missing = first - known.first - before
    known.values.extend([math.nan] * missing)
    known.values.extend(values[max(-missing, 0) :])
    return len(known.values) - before


def _unusable(client: Client, reason: str) -> errors.PrometheusError:
    return errors.PrometheusError(f"Prometheus at {client.url}: the answer cannot be used: {reason}")


_POD_LABELS: Final = "namespace, pod, exported_namespace, exported_pod"
"""The labels by which series of one pod are joined. The exported ones exist if the scraper keeps its own labels."""


class PrometheusSource:
    """Reads series through the HTTP API of Prometheus."""

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
        """The series; raises PrometheusError if there is no usable answer."""
        found = read_range(
            self._client,
            self.expression(question, step=grid.step),
            Range(start=grid.start, step=grid.step, points=grid.points),
        )
        series = tuple(Series(labels=row.labels, first=row.first, values=row.values) for row in found.rows)
        return Answer(series=series, warnings=found.warnings)

    def expression(self, question: Question, *, step: int) -> str:
        """The PromQL of a question with steps of this many seconds."""
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
