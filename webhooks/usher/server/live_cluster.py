"""The live cluster of a server: it watches facts, charges quotas and writes Events while the server runs.

People look at their waiting Job or ReplicaSet. One thread writes Events after the answer. An owner reference can be
forged, so usher writes an Event only if the owner exists with that uid in that namespace.
"""

import asyncio
import contextlib
import ctypes
import hashlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, Protocol
from urllib.parse import quote

import orjson
import structlog
from msgspec import Struct

from usher import errors, paths
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.live import account_store
from usher.authorities.gpu_quota.live.account_store import Meter
from usher.authorities.gpu_quota.live.admission import Admission
from usher.authorities.gpu_quota.live.service import ChargingService
from usher.authorities.knowledge import Knowledge
from usher.cluster.api import Answer as ApiAnswer
from usher.cluster.api import Lists, group_path
from usher.cluster.watching import LiveFacts
from usher.kinds.registry import WORKLOADS
from usher.policy.evaluator import Evaluator
from usher.review.admission_review import Answer, on_one_line
from usher.server.metrics import Metrics

DENIAL_REASON: Final = "DeniedByUsher"
QUOTA_REASON: Final = "ChargeRefused"

_OF_CLUSTER: Final = "default"
"""The namespace of Events about objects without a namespace."""

_WAITING: Final = 100
"""Denials that wait to be written; more are dropped and counted."""
_AGAIN: Final = 60.0
"""Seconds until an Event about the same owner and check is written again, with a higher count."""
_PAUSE: Final = 0.2
"""The least seconds between two requests, so that many denials do not make many requests."""
_KNOWN: Final = 1000
"""Owners and checks that are remembered."""
_LONGEST: Final = 1024
"""Characters of a note; the API server accepts no longer ones."""
_LONGEST_FIELD: Final = 253
"""Characters of a field of an owner reference."""


class EventsApi(Lists, Protocol):
    """An API server that applies objects."""

    def apply(self, path: str, value: paths.Object) -> ApiAnswer:
        """The answer to a server-side apply, with any status. Raises ClusterError without one."""
        ...


class Denial(Struct, frozen=True, kw_only=True):
    """A denial, and the object for the Event: the controller of the denied object, or a GPUQuota."""

    namespace: str
    """The namespace of the denied object."""
    api_version: str
    kind: str
    name: str
    uid: str
    """The uid in an owner reference, which proves nothing; empty for a GPUQuota."""
    code: str
    message: str

    @property
    def is_of_quota(self) -> bool:
        return not self.uid

    @property
    def key(self) -> str:
        text = f"{self.namespace}\n{self.uid}\n{self.name}\n{self.code}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class _Reported(Struct):
    count: int = 0
    since: str = ""
    until: float = float("-inf")


def denials(answer: Answer) -> Iterator[Denial]:
    """The denials that may get Events; empty for an admitted object and for a dry run."""
    review = answer.review
    if answer.allowed or review.dry_run or not answer.denials or not review.namespace or review.value is None:
        return
    owner = _controller(review.value)
    quota = (f"{definitions.GROUP}/{definitions.VERSION}", definitions.KIND, answer.quota, "") if answer.quota else None
    about = [each for each in (owner, quota) if each is not None]
    if not about:
        return
    code = answer.denials[0].partition(" ")[0]
    message = on_one_line(orjson.loads(answer.body)["response"].get("status", {}).get("message", ""), _LONGEST)
    for version, kind, name, uid in about:
        yield Denial(
            namespace=review.namespace,
            api_version=version,
            kind=kind,
            name=name,
            uid=uid,
            code=code,
            message=message,
        )


def _controller(value: paths.Object) -> tuple[str, str, str, str] | None:
    """Version, kind, name and uid of the controller that an object names."""
    for reference in paths.elements(paths.metadata(value).get("ownerReferences"))[:10]:
        if isinstance(reference, dict) and reference.get("controller") is True:
            fields = [reference.get(field) for field in ("apiVersion", "kind", "name", "uid")]
            texts = [field for field in fields if isinstance(field, str) and 0 < len(field) <= _LONGEST_FIELD]
            return (texts[0], texts[1], texts[2], texts[3]) if len(texts) == len(fields) else None
    return None


class Events:
    """Writes Events from `start` to `stop`."""

    def __init__(
        self,
        api: EventsApi,
        *,
        count: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        pause: float = _PAUSE,
    ) -> None:
        """Takes an API server that answers within seconds, what counts results, and a clock in seconds."""
        self._api, self._count, self._clock, self._pause = api, count, clock, pause
        self._waiting: queue.Queue[Denial | None] = queue.Queue(maxsize=_WAITING)
        self._events: OrderedDict[str, _Reported] = OrderedDict()
        self._log_from = float("-inf")
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, within: float) -> None:
        """Ends the thread and drops the waiting denials."""
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except queue.Full:
                self._waiting.get_nowait()
        self._thread.join(within)

    def tell(self, answer: Answer) -> None:
        """Queues the denials of an answer. It costs almost nothing if there is no denial."""
        for found in denials(answer):
            try:
                self._waiting.put_nowait(found)
            except queue.Full:
                self._count("dropped")

    def _run(self) -> None:
        while (found := self._waiting.get()) is not None:
            try:
                if self._write(found):
                    time.sleep(self._pause)
            except errors.ClusterError as error:
                self._failed(str(error))

    def _write(self, found: Denial) -> bool:
        """Writes an Event unless it wrote one lately; returns whether it asked the API server."""
        reported = self._events.setdefault(found.key, _Reported())
        self._events.move_to_end(found.key)
        while len(self._events) > _KNOWN:
            self._events.popitem(last=False)
        reported.count += 1
        if self._clock() < reported.until:
            return False
        reported.until = self._clock() + _AGAIN
        uid = self._uid(found)
        if not uid:
            self._count("no_owner")
            return True
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        reported.since = reported.since or now
        name = f"{found.name[:200].rstrip('.-')}.{found.key}"
        within = _OF_CLUSTER if found.is_of_quota else found.namespace
        path = f"{group_path('', 'v1')}/namespaces/{quote(within, safe='')}/events/{quote(name, safe='')}"
        event = _event(found, uid=uid, within=within, name=name, reported=reported, now=now)
        answer = self._api.apply(path, event)
        if answer.status in (200, 201):
            self._count("written")
        else:
            self._failed(answer.message)
        return True

    def _uid(self, found: Denial) -> str:
        """The uid of the object of the Event; empty if the object does not exist, or has another uid."""
        path = _path(found)
        answer = self._api.get(path) if path else None
        if answer is None or answer.status != 200:
            return ""
        metadata = answer.value.get("metadata")
        uid = metadata.get("uid") if isinstance(metadata, Mapping) else None
        return uid if isinstance(uid, str) and (found.is_of_quota or uid == found.uid) else ""

    def _failed(self, reason: str) -> None:
        """Counts a failure, and logs at most one each minute."""
        self._count("failed")
        if self._clock() >= self._log_from:
            self._log_from = self._clock() + _AGAIN
            structlog.get_logger().warning("events_not_written", reason=on_one_line(reason, 500))


def _path(found: Denial) -> str:
    """The path of the object of an Event; empty for a kind that makes no pods."""
    if found.is_of_quota:
        return f"{account_store.QUOTAS_PATH}/{quote(found.name, safe='')}"
    group, _, version = found.api_version.rpartition("/")
    kind = WORKLOADS.get((group, found.kind))
    if kind is None or not kind.plural:
        return ""
    within = f"namespaces/{quote(found.namespace, safe='')}/{kind.plural}/{quote(found.name, safe='')}"
    return f"{group_path(group, quote(version, safe=''))}/{within}"


def _event(  # noqa: PLR0913 - all named
    found: Denial, *, uid: str, within: str, name: str, reported: _Reported, now: str
) -> paths.Object:
    of_namespace: paths.Object = {} if found.is_of_quota else {"namespace": found.namespace}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": within},
        "involvedObject": {
            "apiVersion": found.api_version,
            "kind": found.kind,
            "name": found.name,
            **of_namespace,
            "uid": uid,
        },
        "type": "Warning",
        "reason": QUOTA_REASON if found.is_of_quota else DENIAL_REASON,
        "message": found.message,
        "count": reported.count,
        "firstTimestamp": reported.since,
        "lastTimestamp": now,
        "source": {"component": "gpu-usher"},
    }


_M_ARENA_MAX: Final = -8
"""The number of this option in malloc.h."""

_ARENAS: Final = 2
"""Memory arenas of threads. By default each of some forty threads gets one, as large as the largest page it read."""

_STOP: Final = 1.0
"""Seconds in which the threads of facts, and those of charges, must end."""

_NAMED: Final = 5
"""How many awaited kinds a message names."""

_LOOK: Final = 1.0
"""The most seconds between two looks for problems to log."""


class ClusterParts(Struct, frozen=True, kw_only=True):
    """The parts that a server needs for its cluster."""

    facts: LiveFacts
    charging: Callable[[Callable[[], Knowledge], Meter], ChargingService]
    """Makes the service that charges quotas, from the current knowledge and a meter."""
    events: Callable[[Callable[[str], None]], Events] | None = None
    """Makes a writer of Events from a function that counts them; None if the site wants no Events."""


class Cluster:
    """The watched cluster while the server runs; without one, quotas are not charged."""

    def __init__(self, parts: ClusterParts | None, evaluator: Callable[[], Evaluator], metrics: Metrics) -> None:
        self.facts = parts.facts if parts is not None else None
        self._evaluator = evaluator
        self._charging = None
        if parts is not None:
            self._charging = parts.charging(lambda: evaluator().knowledge, metrics.of_quotas())
        self.events = parts.events(metrics.of_events()) if parts is not None and parts.events is not None else None
        self._log: asyncio.Task[None] | None = None
        if self.facts is not None:
            metrics.watch_facts(self.facts)

    @property
    def admission(self) -> Admission | None:
        """The admission that charges quotas; None without a cluster."""
        return self._charging.admission if self._charging is not None else None

    def start(self, *, interval: float) -> None:
        """Begins to watch, to charge, and to look for problems to log every `interval` seconds."""
        if self.facts is not None:
            bound_arenas()
            self.facts.start()
            self._log = asyncio.create_task(_log(self.facts, interval))
        if self.events is not None:
            self.events.start()
        if self._charging is not None:
            self._charging.start()
        elif self._evaluator().config.quotas:
            structlog.get_logger().warning(
                "quotas_not_charged", reason="no live cluster is watched; start with --facts live"
            )

    def tell(self, answer: Answer) -> None:
        """Writes an Event about a denial, if the site wants Events."""
        if self.events is not None and not answer.allowed:
            self.events.tell(answer)

    def missing(self) -> str:
        """The kinds for which the server waits; empty when it is ready."""
        return missing_kinds(self.facts)

    def stop(self) -> None:
        """Stops the charges, and then the facts that they need."""
        if self._log is not None:
            self._log.cancel()
        if self.events is not None:
            self.events.stop(within=_STOP)
        if self._charging is not None:
            self._charging.stop(within=_STOP)
        if self.facts is not None:
            self.facts.stop(within=_STOP)


def missing_kinds(facts: LiveFacts | None) -> str:
    """The kinds that were never listed; empty from then on, because a lost watch does not make a server unready."""
    awaited = facts.awaited() if facts is not None else []
    more = f" and {len(awaited) - _NAMED} more" if len(awaited) > _NAMED else ""
    return f"waiting for facts: {', '.join(awaited[:_NAMED])}{more}" if awaited else ""


async def _log(facts: LiveFacts, interval: float) -> None:
    """Logs each problem with a kind once when two looks in a row find it, and again when it is over."""
    logged: set[str] = set()
    seen: set[str] = set()
    was_ready = False
    while True:
        problems = facts.problems
        for kind, problem in problems.items():
            if kind in seen and kind not in logged:
                logged.add(kind)
                structlog.get_logger().warning("facts_problem", kind=kind, reason=problem)
        for kind in sorted(logged - problems.keys()):
            logged.remove(kind)
            structlog.get_logger().info("facts_recovered", kind=kind)
        seen = set(problems)
        if facts.ready and not was_ready:
            was_ready = True
            await asyncio.to_thread(return_memory)
            for kind, reason in facts.left_out.items():
                structlog.get_logger().info("facts_left_out", kind=kind, reason=reason)
            structlog.get_logger().info("facts_ready", objects=sum(facts.store.counts().values()))
        await asyncio.sleep(min(interval, _LOOK))


def bound_arenas() -> None:
    """Lets all threads share few arenas; call it before they start. Without glibc it does nothing."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def return_memory() -> None:
    """Returns free memory to the system; takes some milliseconds, in which other threads run."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
