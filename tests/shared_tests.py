"""Says at the end of a run how many tests were left out because public manifests and definitions are missing."""

from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

from shared_files import LEFT_OUT

_CATEGORY: Final = "left out"


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, str] | None:
    """Counts these tests apart from others that are skipped, so that no list of skipped tests names each of them."""
    if isinstance(report, pytest.TestReport) and report.skipped and isinstance(report.longrepr, tuple):
        return (_CATEGORY, "s", "LEFT OUT") if LEFT_OUT in report.longrepr[2] else None
    return None


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    number = len(terminalreporter.stats.get(_CATEGORY, []))
    if number:
        terminalreporter.ensure_newline()
        terminalreporter.line(
            f"LEFT OUT: {number} tests, which need manifests and definitions of public projects; "
            "docs/testing.md, Public manifests, says how to get them"
        )
