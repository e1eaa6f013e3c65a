"""Says at the end of a run how many tests were left out for want of ../shared, by subject."""

from collections import Counter
from collections.abc import Iterable

from _pytest.terminal import TerminalReporter

from shared_files import LEFT_OUT


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    found = left_out(report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple))
    if found:
        terminalreporter.section("LEFT OUT: these tests need ../shared, which is not here")
        for subject, number in sorted(found.items()):
            terminalreporter.line(f"{number:5}  {subject}")


def left_out(reasons: Iterable[str]) -> Counter[str]:
    """How many tests were left out, by subject; `reasons` are those of all that were skipped."""
    return Counter(subject for reason in reasons if (subject := reason.partition(LEFT_OUT)[2]))
