"""Series of samples on a grid of times, and the protocol of their sources: Prometheus, or a synthetic cluster.

A source answers by the name of a metric. So a source that is not Prometheus only needs a table of series by metric: it
may ignore the fold, and also the matchers if all its series match them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """Only series whose label matches the whole pattern, in the syntax of RE2."""

    label: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The values of one set of labels, from point `first` on; NaN for a step without a sample."""

    labels: Mapping[str, str]
    first: int
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
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
        """The address without user and password; empty if there is none."""
        ...

    @property
    def selection(self) -> str:
        """The labels by which a user chose series, as `cluster=prod`; empty if all series count."""
        ...

    def read(self, question: Question, grid: Grid, /) -> Answer: ...


def ordered(series: Sequence[Series]) -> tuple[Series, ...]:
    """The series in the order of their labels, so that the same cluster always gives the same numbers."""
    return tuple(sorted(series, key=lambda each: (sorted(each.labels.items()), each.first)))
