"""The live cluster of a server: it watches facts and charges quotas for as long as the server runs."""

import asyncio
import contextlib
import ctypes
from collections.abc import Callable
from typing import Final

import structlog

from usher.authorities.gpu_quota.live.account_store import Meter
from usher.authorities.gpu_quota.live.admission import Admission
from usher.authorities.gpu_quota.live.service import ChargingService
from usher.authorities.knowledge import Knowledge
from usher.cluster.watching import LiveFacts
from usher.dataclass import dataclass
from usher.policy.evaluator import Evaluator
from usher.review.admission_review import Answer
from usher.server.events import Events
from usher.server.metrics import Metrics

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterParts:
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
            structlog.get_logger().warning("quotas_not_charged", reason="no live cluster is watched; start with --live")

    def tell(self, answer: Answer) -> None:
        """Writes an Event about a denial, if the site wants Events."""
        if self.events is not None and not answer.allowed:
            self.events.tell(answer)

    def missing(self) -> str:
        """The kinds for which the server waits; empty when it is ready."""
        return missing(self.facts)

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


def missing(facts: LiveFacts | None) -> str:
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
