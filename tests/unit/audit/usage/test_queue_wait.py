"""The wait in queues: histograms whose counters begin again, and Workloads of Kueue."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.audit.gather import estate
from usher.audit.usage import usage_metrics
from usher.audit.usage.series import Answer, Series


def histogram(*counts: tuple[str, list[float]]) -> Answer:
    return Answer(series=tuple(Series(labels={"le": bound}, first=0, values=values) for bound, values in counts))


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=20), st.integers(0, 19))
def test_a_counter_that_begins_again_loses_nothing(steps: list[float], reset: int) -> None:
    """Growth is the sum of the steps, wherever the process restarted."""
    value, found = 50.0, [50.0]
    for index, step in enumerate(steps):
        value = step if index == reset else value + step
        found.append(value)
    restarted = 0 <= reset < len(steps)
    # A restart cannot be seen where the new count is at least the old one.
    seen = not restarted or found[reset + 1] < found[reset]

    grown = usage_metrics.counter_increase(found, first=0)

    assert grown == pytest.approx(sum(steps)) or not seen


def test_gaps_do_not_count() -> None:
    assert usage_metrics.counter_increase([1.0, math.nan, 4.0, math.nan, 6.0], first=0) == 5.0


def test_a_series_that_begins_within_the_window_began_at_0() -> None:
    assert usage_metrics.counter_increase([7.0, 9.0], first=0) == 2.0
    assert usage_metrics.counter_increase([7.0, 9.0], first=2) == 2.0
    assert usage_metrics.counter_increase([7.0, 9.0], first=3) == 9.0


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([("60", [0, 100]), ("+Inf", [0, 100])], 57.0),
        ([("60", [0, 90]), ("300", [0, 100]), ("+Inf", [0, 100])], 180.0),
        ([("60", [0, 10]), ("+Inf", [0, 100])], 60.0),
        ([("60", [5, 5]), ("+Inf", [9, 9])], None),
        ([("60", [0, 10])], None),
        ([("many", [0, 10]), ("+Inf", [0, 10])], None),
    ],
)
def test_the_quantile_interpolates_within_a_bucket(
    counts: list[tuple[str, list[float]]], expected: float | None
) -> None:
    assert usage_metrics.histogram_wait(histogram(*counts)) == (None if expected is None else pytest.approx(expected))


def admitted(created: str, at: str) -> dict[str, Any]:
    condition = {"type": "Admitted", "status": "True", "lastTransitionTime": at}
    return {"metadata": {"creationTimestamp": created}, "status": {"conditions": [condition]}}


def test_without_metrics_the_workloads_of_kueue_say_how_long_they_waited() -> None:
    objects: list[Any] = [admitted("2026-03-02T10:00:00Z", f"2026-03-02T10:{minute:02}:00Z") for minute in range(20)]
    objects += [
        admitted("2026-02-01T10:00:00Z", "2026-02-02T10:00:00Z"),
        {"metadata": {"creationTimestamp": "2026-03-02T10:00:00Z"}},
        {"metadata": None, "status": {"conditions": [None]}},
        admitted("not a time", "2026-03-02T10:00:00Z"),
        *[admitted("2026-03-02T10:00:00Z", "2026-03-02T09:00:00Z")] * 20,
        admitted("2026-03-02T10:00:00", "2026-03-02T10:00:00"),
    ]
    found = estate.Estate(nodes=(), workloads=(), objects={("kueue.x-k8s.io", "Workload"): objects})

    seconds, formula = usage_metrics.queue_wait(found, Answer(), start=datetime(2026, 3, 1, tzinfo=UTC))

    assert seconds == 18 * 60
    assert "Admitted - creationTimestamp" in formula
