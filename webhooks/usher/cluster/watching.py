"""Keeps the objects of one kind up to date: lists them, then watches them, and lists again when the watch fails.

It never ends by itself: after every error it waits and tries again. Meanwhile the last known objects stay, and `age` is
their age. No library: the informer of the Kubernetes client does not trim objects, lists without pages, and does not
notice a silent connection (docs/architecture.md).
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Final

from usher import errors
from usher.cluster import listing
from usher.cluster.api import Api, CutShortError, TooLongError, lines, loads
from usher.cluster.listing import Target
from usher.cluster.sinks import Sink
from usher.http_clients.retries import Backoff

SHORTEST_WATCH: Final = 180.0
LONGEST_WATCH: Final = 260.0
"""Seconds that a watch lasts: less than the age that facts may have, because a regular end proves that nothing was
missed, even from a server without bookmarks. They differ at random, so that the watches do not all end at once."""

SILENCE: Final = 15.0
"""Seconds after that until a connection without an end counts as dead."""

LOST_FOR_LONG: Final = 120.0
"""Seconds without an answer after which a list replaces the watch. The cluster may have been restored from a backup;
then a watch from the old resource version would stay silent until the cluster reaches that version again."""

_SHORT: Final = 5.0
"""Seconds: a watch that ends sooner without any event counts as failed, so that the next one waits."""

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 30.0
LONGEST_WAIT_FOR_KIND: Final = 60.0
"""Seconds between requests for a kind that the server does not know, unless its definition appears."""
FIRST_WAIT_FOR_RIGHTS: Final = 1.0
LONGEST_WAIT_FOR_RIGHTS: Final = 300.0

PATIENCE: Final = 4
"""How many times in a row the API server may refuse to list a kind before readiness stops waiting for it."""


class Reason(Enum):
    """Why a watch or a list starts again."""

    ENDED = "ended"
    """It ended in time, as requested."""
    EXPIRED = "expired"
    """410: the server no longer has the events since the last one."""
    STALLED = "stalled"
    LOST = "lost"
    """The connection ended within a line, broke, or could not be made."""
    REFUSED = "refused"
    MALFORMED = "malformed"
    NOT_SERVED = "not_served"
    FAULT = "fault"
    """An error in usher itself."""


class _MalformedError(Exception):
    """The server sent something that is not an event."""


class _RefusedError(Exception):
    """The server refuses to continue; carries its HTTP status."""

    def __init__(self, reason: str, *, status: int) -> None:
        super().__init__(reason)
        self.status = status

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in (401, 429) or self.status >= 500


class Reflector:
    """Fills a sink with the objects of one target."""

    def __init__(
        self,
        api: Api,
        target: Target,
        sink: Sink,
        *,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Takes the API server, the target, the sink to fill, a clock in seconds, and random numbers from 0 to 1."""
        self.target = target
        self.settled = False
        """Whether a first answer is known: all objects, a missing kind, or no permission to list it."""
        self.watching = False
        """Whether changes would arrive at once. For a kind that does not exist: whether the last answer said so."""
        self.known = False
        """Whether all objects were listed at least once."""
        self.refusals = 0
        """How many times in a row the server has refused the list."""
        self.restarts = Counter(dict.fromkeys(Reason, 0))
        self.problem = self.left_out = ""
        """The present problem; and why a site does not let usher read a kind that it may omit. Both may be empty."""
        self._api = api
        self._sink = sink
        self._clock = clock
        self._chance = chance
        self._failures = Backoff(first=FIRST_WAIT, ceiling=LONGEST_WAIT, chance=chance)
        self._looks = Backoff(first=FIRST_WAIT, ceiling=LONGEST_WAIT_FOR_KIND, chance=chance)
        self._rights = Backoff(first=FIRST_WAIT_FOR_RIGHTS, ceiling=LONGEST_WAIT_FOR_RIGHTS, chance=chance)
        self._current_at: float | None = None
        self._version = ""
        self._resource_version = ""
        """Empty while the next step is a list."""
        self._doubts = 0
        """How many times in a row the server denied a kind although usher had objects of it."""
        self._woken = threading.Event()

    @property
    def age(self) -> float | None:
        """Seconds since the objects in the sink were last known to be current; None before the first list."""
        return None if self._current_at is None else max(self._clock() - self._current_at, 0.0)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Runs until `stopped` returns true; `wake` ends a wait."""
        while not stopped():
            try:
                wait = self.step()
            except Exception as error:  # noqa: BLE001 - if the thread ended, this kind would never change again
                self._resource_version = ""
                wait = self._failed(Reason.FAULT, f"internal error: {type(error).__name__}: {error}")
            self._woken.wait(wait)
            self._woken.clear()

    def wake(self) -> None:
        """Ends the present wait: for example because the definition of a missing kind has appeared."""
        self._looks.reset()
        self._woken.set()

    def step(self) -> float:
        """Lists, or watches until the watch ends. Returns the seconds to wait before the next step."""
        try:
            return self._watch() if self._resource_version else self._list()
        except errors.ClusterError as error:
            return self._failed(Reason.LOST, str(error))

    def _list(self) -> float:
        began = self._clock()
        found = listing.read(self._api, self.target)
        if isinstance(found, listing.NotServed):
            return self._not_served()
        self._doubts = 0
        if isinstance(found, listing.Refused):
            return self._refused(found)
        self._sink.replace(found.values)
        self._version, self._resource_version = found.version, found.resource_version
        self._current_at = began
        self.known = self.settled = True
        self.refusals = 0
        self.problem = self.left_out = ""
        self._looks.reset()
        # Without a resource version there can be no watch: list again, as after a failure.
        return 0.0 if self._resource_version else self._failed(Reason.MALFORMED, "the list has no resourceVersion")

    def _not_served(self) -> float:
        if not self._doubts and (self.known or not self.settled):
            # An API server that has just started may not have read all definitions yet.
            self._doubts += 1
            return self._failed(Reason.NOT_SERVED, "the API server does not know this kind")
        self._sink.lacks()
        self._current_at = self._clock()
        self.settled = self.watching = True
        self.known, self._doubts, self.problem = False, 0, ""
        self._failures.reset()
        return self._looks.next()

    def _refused(self, found: listing.Refused) -> float:
        self.refusals += 1
        if not found.forbidden:
            return self._failed(Reason.EXPIRED if found.status == 410 else Reason.REFUSED, found.reason)
        # The cluster's setup causes this: readiness must not wait for this kind, which stays unknown unless it was
        # known before. But an API server that has just started may not have read all roles yet.
        self.settled = self.settled or self.refusals >= PATIENCE
        self.watching = False
        reason = f"may not be listed: {found.reason}"
        is_wanted = self.known or self.target.name or not self.target.kind.by_choice
        self.problem, self.left_out = (reason, "") if is_wanted else ("", reason)
        return self._rights.next()

    def _watch(self) -> float:
        began, first = self._clock(), self._resource_version
        try:
            self._follow()
        except _RefusedError as error:
            return self._refused_to_watch(error, lasted=self._lasted(began, first))
        except (_MalformedError, TooLongError):
            self._resource_version = ""
            return self._failed(Reason.MALFORMED, "the API server sent something that is not an event")
        except errors.StalledError as error:
            return self._failed(Reason.STALLED, str(error))
        except CutShortError:
            return self._failed(Reason.LOST, "the connection ended within an event")
        if not self._lasted(began, first):
            return self._failed(Reason.LOST, "the watch ended at once")
        self.restarts[Reason.ENDED] += 1
        self._is_current()
        return 0.0

    def _refused_to_watch(self, error: _RefusedError, *, lasted: bool) -> float:
        if error.passing:
            return self._failed(Reason.REFUSED, str(error))
        self._resource_version = ""
        if error.status != 410:
            wait = self._failed(Reason.REFUSED, str(error))
            return self._rights.next() if error.status == 403 else wait
        wait = self._failed(Reason.EXPIRED, "the API server no longer knows what happened since the last list")
        # Without the wait, usher would ask this server in a loop.
        return 0.0 if lasted else wait

    def _lasted(self, began: float, first: str) -> bool:
        """Whether a watch worked: an event came, or it ran for a while."""
        return self._resource_version not in ("", first) or self._clock() - began >= _SHORT

    def _follow(self) -> None:
        """Takes events until the server ends the watch."""
        seconds = int(SHORTEST_WATCH + (LONGEST_WATCH - SHORTEST_WATCH) * self._chance())
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._resource_version,
            "timeoutSeconds": str(seconds),
            **self.target.query,
        }
        path, accept = self.target.path(self._version), self.target.accept(watch=True)
        with self._api.stream(path, query=query, silence=seconds + SILENCE, accept=accept) as stream:
            if stream.refusal is not None:
                raise _RefusedError(stream.refusal.message, status=stream.refusal.status)
            self.watching, self.problem = True, ""
            for line in lines(stream.chunks()):
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            event = loads(line)
        except ValueError:
            raise _MalformedError from None
        value = event.get("object") if isinstance(event, dict) else None
        if not isinstance(event, dict) or not isinstance(value, dict):
            raise _MalformedError
        kind = event.get("type")
        if kind == "ERROR":
            code = value.get("code")
            raise _RefusedError(str(value.get("message")), status=code if isinstance(code, int) else 500)
        version = listing.resource_version(value)
        if not version or kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
            raise _MalformedError
        if kind != "BOOKMARK":
            if not listing.has_name(value):
                raise _MalformedError
            kept = self.target.kept(value, self._version)
            (self._sink.remove if kind == "DELETED" else self._sink.put)(kept)
        self._resource_version = version
        self._is_current()

    def _is_current(self) -> None:
        self._current_at = self._clock()
        self._failures.reset()
        self._rights.reset()

    def _failed(self, reason: Reason, problem: str) -> float:
        self.restarts[reason] += 1
        self.problem, self.watching = problem, False
        age = self.age
        if age is not None and age > LOST_FOR_LONG:
            self._resource_version = ""
        return self._failures.next()
