"""Repeats the audit of a cluster from time to time. After a failed audit, the last good report stays."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from usher import errors
from usher.audit.document import Audit
from usher.dataclass import dataclass

_MOST: Final = 1_000
"""Characters of an error that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A report as the server sends it."""

    html: bytes
    json: bytes


Render = Callable[[Audit, tuple[str, ...]], Rendered]
"""Makes a report from an audit and the notices above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """`report` is the last good one; None before it exists."""

    report: Rendered | None = None
    problem: str = ""
    """Why the last audit failed; empty if it did not."""


class Refresher:
    """Makes audits in a thread of its own; `state` may be read at any time."""

    def __init__(
        self, make: Callable[[], Audit], render: Render, *, every: timedelta, now: Callable[[], datetime]
    ) -> None:
        self.state = State()
        self._make, self._render, self._every, self._now = make, render, every, now
        self._audit: Audit | None = None
        self._made: datetime | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        # A daemon thread, so that a long audit does not keep the process from ending.
        threading.Thread(target=self._run, name="audit", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.refresh()
            self._stopping.wait(self._every.total_seconds())

    def refresh(self) -> None:
        """Makes one audit. An error becomes part of the state, and the old report stays."""
        started = self._now()
        try:
            audit = self._make()
            report = self._render(audit, (self._next(),))
        except errors.UsherError as error:
            self._failed(started, str(error))
        except Exception as error:  # noqa: BLE001 - after any error, the old report stays
            # The text of an unexpected error may hold anything; the log has it.
            structlog.get_logger().exception("audit_failed")
            self._failed(started, f"unexpected {type(error).__name__}; the log has more")
        else:
            self._audit, self._made = audit, self._now()
            self.state = State(report=report)
            structlog.get_logger().info("audit_made", taken=audit.taken)

    def _failed(self, started: datetime, reason: str) -> None:
        structlog.get_logger().error("audit_problem", reason=reason[:_MOST], kept="the last good report")
        problem = f"The audit of {_minute(started)} failed: {reason[:_MOST]}"
        report = self.state.report
        if self._audit is not None and self._made is not None:
            age = self._now() - self._made
            notice = f"{problem}. This report is older: it was made {_lasting(age)} before. {self._next()}"
            report = self._render(self._audit, (notice,))
        self.state = State(report=report, problem=problem)

    def _next(self) -> str:
        return f"The next audit begins at about {_minute(self._now() + self._every)}; reload the page to see it."


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _lasting(duration: timedelta) -> str:
    minutes = max(0, round(duration / timedelta(minutes=1)))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"
