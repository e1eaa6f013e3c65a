"""How far the clock of this machine is from the API server's, by the header Date of its answers.

The API server judges certificates by its own clock. So its time counts, and not the time of this machine.
"""

import email.utils
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from usher import paths
from usher.cluster.api import JSON, Answer, Lists

_RESOLUTION: Final = timedelta(seconds=1)
"""Date has whole seconds, rounded down (RFC 9110, 5.6.7)."""


class Api(Lists, Protocol):
    """An API that reads and writes objects. Each method raises ClusterError without an answer."""

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT of an object, with any status."""
        ...

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        """The answer to a JSON patch, with any status."""
        ...

    def apply(self, path: str, value: paths.Object) -> Answer:
        """The answer to a server-side apply of an object, with any status."""
        ...


class TimedApi:
    """Passes requests on, and compares the clock of this machine with the time of each answer."""

    def __init__(self, api: Api, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._clock = clock
        self.ahead: timedelta | None = None
        """How far this machine's clock is ahead of the API server's, at least; negative if it is behind.
        None before the first answer, and after an answer without Date."""

    @property
    def name(self) -> str:
        return self._api.name

    def now(self) -> datetime:
        """The time of the API server, as far as it is known."""
        return self._clock() - (self.ahead or timedelta())

    def clock_problem(self, tolerance: timedelta) -> str:
        """Says that this machine's clock is wrong by more than `tolerance`; empty if it is not, or nothing is known."""
        if self.ahead is None or abs(self.ahead) <= tolerance:
            return ""
        way = "ahead of" if self.ahead > timedelta() else "behind"
        return f"the clock of this server is {_words(self.ahead)} {way} the API server's; set the clock of its node"

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        return self._timed(lambda: self._api.get(path, query=query, accept=accept))

    def put(self, path: str, value: paths.Object) -> Answer:
        return self._timed(lambda: self._api.put(path, value))

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        return self._timed(lambda: self._api.patch(path, operations))

    def apply(self, path: str, value: paths.Object) -> Answer:
        return self._timed(lambda: self._api.apply(path, value))

    def _timed(self, request: Callable[[], Answer]) -> Answer:
        before = self._clock()
        answer = request()
        self.ahead = _ahead(_parsed(answer.date), before=before, after=self._clock())
        return answer


def _words(span: timedelta) -> str:
    """A duration for people, in its largest unit: `100 days`."""
    seconds = abs(span.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = round(seconds / length)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{int(seconds)} seconds"


def _ahead(date: datetime | None, *, before: datetime, after: datetime) -> timedelta | None:
    """The smallest difference that explains the Date of an answer to a request between two times of this clock."""
    if date is None:
        return None
    least, most = before - (date + _RESOLUTION), after - date
    return max(least, timedelta()) + min(most, timedelta())


def _parsed(date: str) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(date).astimezone(UTC) if date else None
    except (ValueError, OverflowError):
        return None
