"""Keeps the facts of a live cluster up to date: lists the objects of each kind, then watches them.

It never ends by itself: after every error it waits and tries again. Meanwhile the last known objects stay, and `age` is
their age. No library: the informer of the Kubernetes client does not trim objects, lists without pages, and does not
notice a silent connection (docs/architecture.md).
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Final, Protocol

from msgspec import Struct

from usher import errors
from usher.cluster import api as cluster_api
from usher.cluster import recording
from usher.cluster.api import Api, CutShortError, Target, TooLongError, parse_json, stream_lines
from usher.cluster.facts.store import Store
from usher.cluster.http_clients import Backoff
from usher.cluster.recording import Sink
from usher.kinds.kind import CONFIG_MAP, DEFINITION, KUEUE_CONFIGURATION, FactKind, Key
from usher.kinds.registry import ASKED_FACTS

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
        found = cluster_api.list_objects(self._api, self.target)
        if isinstance(found, cluster_api.NotServed):
            return self._not_served()
        self._doubts = 0
        if isinstance(found, cluster_api.Refused):
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

    def _refused(self, found: cluster_api.Refused) -> float:
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
            for line in stream_lines(stream.chunks()):
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            event = parse_json(line)
        except ValueError:
            raise _MalformedError from None
        value = event.get("object") if isinstance(event, dict) else None
        if not isinstance(event, dict) or not isinstance(value, dict):
            raise _MalformedError
        kind = event.get("type")
        if kind == "ERROR":
            code = value.get("code")
            raise _RefusedError(str(value.get("message")), status=code if isinstance(code, int) else 500)
        version = cluster_api.resource_version(value)
        if not version or kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
            raise _MalformedError
        if kind != "BOOKMARK":
            if not cluster_api.object_has_name(value):
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


class StreamingApi(Api, Protocol):
    """An API whose streams can be ended by another thread."""

    def hang_up(self) -> None: ...


class Reflecting:
    """Runs reflectors of one connection."""

    def __init__(self, api: StreamingApi, *, purpose: str) -> None:
        """Takes the connection whose streams `stop` ends, and the first word of the names of the threads."""
        self._api = api
        self._purpose = purpose
        self._stopped = threading.Event()
        self._running: list[tuple[Reflector, threading.Thread]] = []

    def start(self, reflectors: Iterable[Reflector]) -> None:
        """Starts a thread for each reflector."""
        for reflector in reflectors:
            name = f"{self._purpose} {reflector.target.label}"
            thread = threading.Thread(target=reflector.run, args=(self._stopped.is_set,), name=name, daemon=True)
            self._running.append((reflector, thread))
            thread.start()

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits at most `within` seconds for their threads, which end with the process anyway."""
        self._stopped.set()
        deadline = time.monotonic() + within
        for reflector, _ in self._running:
            reflector.wake()
        self._api.hang_up()
        for _, thread in self._running:
            thread.join(max(deadline - time.monotonic(), 0))


class KindState(Struct, frozen=True, kw_only=True):
    """How current the facts of one kind are."""

    kind: str
    """As in `kubectl get`."""
    age: float | None
    """Seconds since the facts were last known to be current; None before the first list."""
    objects: int | None
    """The number of objects; None while it is unknown."""
    watching: bool
    """Whether changes would arrive at once."""
    restarts: Mapping[Reason, int]
    problem: str


_CLUSTER_QUEUE: Final = ("kueue.x-k8s.io", "ClusterQueue")


class LiveFacts:
    """The facts of a cluster, kept up to date from `start` to `stop`."""

    def __init__(
        self,
        api: StreamingApi,
        *,
        kinds: Iterable[FactKind] = ASKED_FACTS,
        store: Store | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes the API server, the kinds, the store to fill, and a clock in seconds. Sends no request yet."""
        self.store = Store() if store is None else store
        self.store.age = self.oldest
        self._api = api
        self._reflecting = Reflecting(api, purpose="facts")
        self._reflectors: dict[Key, Reflector] = {}
        self._others: list[Reflector] = []
        for kind in kinds:
            sink = self._sink(kind, clock=clock)
            self._reflectors[kind.key] = Reflector(api, Target(kind=kind), sink, clock=clock)

    def start(self) -> None:
        """Starts to list and watch; from now on the store fills."""
        self._reflecting.start(self._all())

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits at most `within` seconds for their threads, which end with the process anyway."""
        self._reflecting.stop(within=within)

    @property
    def ready(self) -> bool:
        """Whether each kind has been listed once, does not exist, or may not be listed."""
        return not self.awaited()

    def awaited(self) -> list[str]:
        """The kinds without a first list.

        Kinds that the API server keeps failing to list while it lists others are left out: a webhook that converts
        their versions may wait for us to be ready. These kinds stay unknown.
        """
        awaited = [reflector for reflector in self._all() if not reflector.settled]
        if any(reflector.known for reflector in self._all()):
            awaited = [reflector for reflector in awaited if reflector.refusals < PATIENCE]
        return [reflector.target.label for reflector in awaited]

    def oldest(self) -> float:
        """The age of the oldest facts in seconds."""
        return max((age for reflector in self._all() if (age := reflector.age) is not None), default=0.0)

    def age(self, key: Key) -> float | None:
        """Seconds since the facts of a kind were last known to be current; None before its first list."""
        reflector = self._reflectors.get(key)
        return None if reflector is None else reflector.age

    @property
    def problems(self) -> dict[str, str]:
        """The present problems, by kind."""
        without_kueue = self.store.knows(*_CLUSTER_QUEUE) and not self.store.names(*_CLUSTER_QUEUE)
        # RBAC also refuses what does not exist: without a queue, the configuration of Kueue is not missed.
        read = self._reflectors.values() if without_kueue else self._all()
        return {reflector.target.label: reflector.problem for reflector in read if reflector.problem}

    @property
    def left_out(self) -> dict[str, str]:
        """The kinds that this site leaves out, with the reason."""
        return {each.target.label: each.left_out for each in self._reflectors.values() if each.left_out}

    def states(self) -> Iterator[KindState]:
        """How current the facts are, kind by kind."""
        counts = self.store.counts()
        for key, reflector in self._reflectors.items():
            yield KindState(
                kind=reflector.target.label,
                age=reflector.age,
                objects=counts.get(key, 0) if self.store.knows(*key) else None,
                watching=reflector.watching,
                restarts=dict(reflector.restarts),
                problem=reflector.problem,
            )

    def _all(self) -> list[Reflector]:
        return [*self._reflectors.values(), *self._others]

    def _sink(self, kind: FactKind, *, clock: Callable[[], float]) -> Sink:
        plain = recording.StoreSink(self.store, kind.key)
        if kind.key == DEFINITION:
            return recording.DefinitionsSink(plain, wake=self._wake)
        if kind.key != CONFIG_MAP:
            return plain
        namespace, name = KUEUE_CONFIGURATION
        with_content = recording.ContentSink(
            plain, namespace=namespace, name=name, alone=recording.SingleObjectSink(self.store)
        )
        target = Target(kind=kind, namespace=namespace, name=name)
        self._others.append(Reflector(self._api, target, with_content.content, clock=clock))
        return with_content

    def _wake(self, definition: str) -> None:
        for reflector in self._reflectors.values():
            if reflector.target.kind.resource == definition:
                reflector.wake()
