"""The line that says how far a long run is."""

import io
import sys
from collections.abc import Iterator

import pytest

from usher.cli import output


def clock(*times: float) -> Iterator[float]:
    yield from times


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_short_run_shows_nothing() -> None:
    times, stream = clock(0, 0.4, 0.9), io.StringIO()
    line = output.ProgressLine(stream, clock=lambda: next(times))

    line("objects judged", 1, 2)
    line("objects judged", 2, 2)
    line.erase()

    assert stream.getvalue() == ""


def test_a_long_run_writes_one_line_again_and_erases_it() -> None:
    times, stream = clock(0, 1.5, 1.51, 1.7), io.StringIO()
    line = output.ProgressLine(stream, clock=lambda: next(times))

    line("files read", 1_000, 0)
    line("files read", 1_001, 0)
    line("objects judged", 7, 2_000)
    line.erase()

    assert stream.getvalue() == "\r\x1b[Kusher: 1,000 files read\r\x1b[Kusher: 7 of 2,000 objects judged\r\x1b[K"


@pytest.mark.parametrize(
    ("environment", "quiet", "shown"),
    [({}, False, True), ({"CI": "true"}, False, False), ({"TERM": "dumb"}, False, False), ({}, True, False)],
)
def test_only_a_person_at_a_terminal_gets_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], quiet: bool, shown: bool
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", Terminal())

    with output.show_progress(quiet=quiet) as watch:
        assert isinstance(watch, output.ProgressLine) is shown


def test_a_log_never_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    with output.show_progress(quiet=False) as watch:
        assert not isinstance(watch, output.ProgressLine)
