"""Series of samples on a grid of times, and the protocol of what provides them: Prometheus, or a synthetic cluster.

A source answers by the name of a metric, so one that is not Prometheus needs a table of series by metric and nothing
else: it may ignore the fold, and the matchers if its series match them anyway.
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
        """Hours that one point stands for."""
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
    """How the samples within a step become one value; the functions of PromQL."""

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
    """Another name that exporters give to the metric."""
    fold: Fold = Fold.MEAN
    matchers: tuple[Matcher, ...] = ()
    only_positive: bool = False
    """Leaves out values that are not above 0."""
    pods_of: "Question | None" = None
    """Only series of pods that this question has as well: it bounds metrics that every pod of a cluster has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The values of one set of labels, from point `first` on; NaN where there was no sample within a step."""

    labels: Mapping[str, str]
    first: int
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`series` are in the order of their labels; `warnings` say what a source knows to be missing."""

    series: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    """The series that a source has and leaves out, because they belong to other parts of the cluster."""


class Source(Protocol):
    """What provides series.

    `read` raises `errors.PrometheusError` where it gets no usable answer.
    """

    @property
    def name(self) -> str:
        """`prometheus` or `demo`, as `Measurement.source` says it."""
        ...

    @property
    def url(self) -> str:
        """The address without user and password; empty where there is none."""
        ...

    @property
    def selection(self) -> str:
        """The labels that a user chose series by, as `cluster=prod`; empty where all series count."""
        ...

    def read(self, question: Question, grid: Grid, /) -> Answer: ...


def ordered(series: Sequence[Series]) -> tuple[Series, ...]:
    """The series in the order of their labels, so that the same cluster gives the same numbers."""
    return tuple(sorted(series, key=lambda each: (sorted(each.labels.items()), each.first)))
