"""The Date of an answer shows the error of this machine's clock."""

import email.utils
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from usher.cluster.api import Answer
from usher.cluster.http_clients import Api, TimedApi

NOW = datetime(2026, 11, 26, 18, 0, tzinfo=UTC)
TOLERANCE = timedelta(seconds=150)


class OneAnswer:
    name = "the test cluster"

    def __init__(self, date: str) -> None:
        self.date = date

    def get(self, _path: str, **_asked: object) -> Answer:
        return Answer(status=200, value={}, date=self.date)


def timed(date: datetime | str, *clock: datetime) -> TimedApi:
    """An API after one request, for which the clock showed two times."""
    times: Iterator[datetime] = iter([*clock, *(clock[-1:] * 5)])
    sent = email.utils.format_datetime(date, usegmt=True) if isinstance(date, datetime) else date
    api = TimedApi(cast(Api, OneAnswer(sent)), lambda: next(times))
    api.get("/version")
    return api


@pytest.mark.parametrize("taken", [timedelta(0), timedelta(milliseconds=900), timedelta(minutes=20)])
def test_a_slow_answer_and_whole_seconds_make_zero_difference(taken: timedelta) -> None:
    api = timed(NOW, NOW - taken / 2, NOW + taken / 2)

    assert api.ahead == timedelta(0)
    assert api.clock_problem(TOLERANCE) == ""


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (timedelta(days=100), "100 days ahead of"),
        (timedelta(days=-1), "1 day behind"),
        (timedelta(hours=3), "3 hours ahead of"),
        (timedelta(minutes=-4), "4 minutes behind"),
        (timedelta(minutes=2), ""),
    ],
)
def test_a_difference_is_named_in_its_largest_unit(ahead: timedelta, words: str) -> None:
    api = timed(NOW, NOW + ahead)

    assert api.ahead is not None
    assert abs(api.ahead - ahead) <= timedelta(seconds=1)
    assert abs(api.now() - NOW) <= timedelta(seconds=1)
    assert words in api.clock_problem(TOLERANCE)
    assert bool(words) == bool(api.clock_problem(TOLERANCE))


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 99 Nov 2026 18:00:00 GMT"])
def test_without_a_usable_date_nothing_is_known(date: str) -> None:
    api = timed(date, NOW)

    assert (api.ahead, api.now(), api.clock_problem(TOLERANCE)) == (None, NOW, "")
