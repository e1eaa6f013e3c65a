"""Waits between retries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.cluster import http_clients

NOW = 1_772_409_600.0
"""2026-03-02T00:00:00Z."""


def wait(asked: str | None, *, attempt: int = 1) -> float:
    return http_clients.wait_for_busy_server(asked, attempt=attempt, now=lambda: NOW)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("7", 7),
        (" 0 ", 0),
        ("86400", 30),
        ("9" * 400, 30),
        ("Mon, 02 Mar 2026 00:00:12 GMT", 12),
        ("Mon, 02 Mar 2026 00:10:00 GMT", 30),
        ("Sun, 01 Mar 2026 23:00:00 GMT", 0),
    ],
)
def test_a_busy_server_gets_the_time_that_it_asks_for_within_a_limit(asked: str, seconds: float) -> None:
    assert wait(asked, attempt=3) == seconds


@pytest.mark.parametrize("asked", [None, "", "soon", "-3", "1.5", "Mon, 99 Mar 2026 99:00:00 GMT"])
def test_without_a_time_the_wait_doubles(asked: str | None) -> None:
    assert [wait(asked, attempt=attempt) for attempt in range(1, 8)] == [0.5, 1, 2, 4, 8, 16, 30]


@given(st.text(max_size=60), st.integers(min_value=1, max_value=50))
def test_whatever_a_server_says_the_wait_is_bounded(asked: str, attempt: int) -> None:
    assert 0 <= wait(asked, attempt=attempt) <= 30
