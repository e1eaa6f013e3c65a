"""Events on the controllers whose pods are denied: people look at their Job or ReplicaSet, which says that it waits.

Everything happens in one thread, after the answer. An owner reference can be forged, so an Event is written only if the
owner exists with that uid in that namespace.
"""

import hashlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from urllib.parse import quote

import orjson
import structlog

from usher import errors, paths
from usher.cluster.api import Answer as ApiAnswer
from usher.cluster.api import Lists, root
from usher.kinds.registry import WORKLOADS
from usher.review.response import Answer, shown

REASON: Final = "DeniedByUsher"

_WAITING: Final = 100
"""Denials that wait to be written; more are dropped and counted."""
_AGAIN: Final = 60.0
"""Seconds until an Event about the same owner and check is written again, with a higher count."""
_PAUSE: Final = 0.2
"""Seconds between two requests at least, so that many denials do not make many requests."""
_KNOWN: Final = 1000
"""Owners and checks that are remembered."""
_LONGEST: Final = 1024
"""Characters of a note; the API server takes no longer ones."""


class Api(Lists, Protocol):
    """An API server that applies objects."""

    def apply(self, path: str, value: paths.Object) -> ApiAnswer:
        """The answer to a server-side apply, with any status. Raises ClusterError without one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A denied object that names a controller; nothing of it is proven."""

    namespace: str
    api_version: str
    kind: str
    name: str
    uid: str
    code: str
    message: str

    @property
    def key(self) -> str:
        text = f"{self.namespace}\n{self.uid}\n{self.name}\n{self.code}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(slots=True)
class _Told:
    count: int = 0
    since: str = ""
    until: float = float("-inf")


def denial(answer: Answer) -> Denial | None:
    """The denial that an Event may tell of; None where the object is let in, is a dry run, or names no controller."""
    review = answer.review
    if answer.allowed or review.dry_run or not answer.denials or not review.namespace or review.value is None:
        return None
    metadata = review.value.get("metadata")
    references = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    for reference in references[:10] if isinstance(references, list) else ():
        if isinstance(reference, dict) and reference.get("controller") is True:
            fields = [reference.get(field) for field in ("apiVersion", "kind", "name", "uid")]
            texts = [field for field in fields if isinstance(field, str) and 0 < len(field) <= 253]
            if len(texts) < len(fields):
                return None
            version, kind, name, uid = texts
            message = orjson.loads(answer.body)["response"].get("status", {}).get("message", "")
            return Denial(
                namespace=review.namespace,
                api_version=version,
                kind=kind,
                name=name,
                uid=uid,
                code=answer.denials[0].partition(" ")[0],
                message=shown(message, _LONGEST),
            )
    return None


class Events:
    """Writes Events from `start` to `stop`."""

    def __init__(
        self,
        api: Api,
        *,
        count: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        pause: float = _PAUSE,
    ) -> None:
        """Takes an API server that answers within seconds, what counts results, and a clock in seconds."""
        self._api, self._count, self._clock, self._pause = api, count, clock, pause
        self._waiting: queue.Queue[Denial | None] = queue.Queue(maxsize=_WAITING)
        self._told: OrderedDict[str, _Told] = OrderedDict()
        self._log_from = float("-inf")
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, within: float) -> None:
        """Ends the thread; what waits is not written."""
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except queue.Full:
                self._waiting.get_nowait()
        self._thread.join(within)

    def tell(self, answer: Answer) -> None:
        """Takes note of an answer; costs next to nothing where no Event follows."""
        found = denial(answer) if not answer.allowed else None
        if found is None:
            return
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
        """Writes an Event, unless one was written lately; whether the API server was asked."""
        told = self._told.setdefault(found.key, _Told())
        self._told.move_to_end(found.key)
        while len(self._told) > _KNOWN:
            self._told.popitem(last=False)
        told.count += 1
        if self._clock() < told.until:
            return False
        told.until = self._clock() + _AGAIN
        if not self._exists(found):
            self._count("no_owner")
            return True
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        told.since = told.since or now
        name = f"{found.name[:200].rstrip('.-')}.{found.key}"
        path = f"{root('', 'v1')}/namespaces/{quote(found.namespace, safe='')}/events/{quote(name, safe='')}"
        answer = self._api.apply(path, _event(found, name=name, count=told.count, since=told.since, now=now))
        if answer.status in (200, 201):
            self._count("written")
        else:
            self._failed(answer.message)
        return True

    def _exists(self, found: Denial) -> bool:
        group, _, version = found.api_version.rpartition("/")
        kind = WORKLOADS.get((group, found.kind))
        if kind is None or not kind.plural:
            return False
        within = f"namespaces/{quote(found.namespace, safe='')}/{kind.plural}/{quote(found.name, safe='')}"
        answer = self._api.get(f"{root(group, quote(version, safe=''))}/{within}")
        metadata = answer.value.get("metadata")
        return answer.status == 200 and isinstance(metadata, Mapping) and metadata.get("uid") == found.uid

    def _failed(self, reason: str) -> None:
        """Counts a failure, and logs one in a minute."""
        self._count("failed")
        if self._clock() >= self._log_from:
            self._log_from = self._clock() + _AGAIN
            structlog.get_logger().warning("events_not_written", reason=shown(reason, 500))


def _event(found: Denial, *, name: str, count: int, since: str, now: str) -> paths.Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": found.namespace},
        "involvedObject": {
            "apiVersion": found.api_version,
            "kind": found.kind,
            "name": found.name,
            "namespace": found.namespace,
            "uid": found.uid,
        },
        "type": "Warning",
        "reason": REASON,
        "message": found.message,
        "count": count,
        "firstTimestamp": since,
        "lastTimestamp": now,
        "source": {"component": "gpu-usher"},
    }
