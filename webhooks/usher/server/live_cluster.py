"""The cluster that a server is for: its facts are watched and its quotas charged for as long as the server runs."""

import asyncio
import contextlib
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from usher.authorities.gpu_quota.live.admission import Admission
from usher.authorities.gpu_quota.live.metering import Meter
from usher.authorities.gpu_quota.live.service import ChargingService
from usher.authorities.knowledge import Knowledge
from usher.cluster.live import LiveFacts
from usher.policy.evaluator import Evaluator
from usher.server.metrics import Metrics

_M_ARENA_MAX: Final = -8
"""As in malloc.h."""

_ARENAS: Final = 2
"""Of their own for threads: by default each of some forty threads gets one, and keeps what its largest page took."""


def bound_arenas() -> None:
    """Lets all threads share few arenas; to be called before they start. Where there is no glibc nothing happens."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Gives free memory back to the system; takes some milliseconds, in which other threads run."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


_STOP: Final = 1.0
"""Seconds that the threads of either get to end."""

_NAMED: Final = 5
"""Kinds that are named while they are waited for."""

_LOOK: Final = 1.0
"""Seconds at most between looks for problems to log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The cluster that the server is for."""

    facts: LiveFacts
    charging: Callable[[Callable[[], Knowledge], Meter], ChargingService]
    """Makes what charges its quotas, from what gives the knowledge in service and what counts."""


class Cluster:
    """The watched cluster while the server runs; without one, quotas are not charged."""

    def __init__(self, watched: Watched | None, evaluator: Callable[[], Evaluator], metrics: Metrics) -> None:
        self.facts = watched.facts if watched is not None else None
        self._evaluator = evaluator
        self._charging = None
        if watched is not None:
            self._charging = watched.charging(lambda: evaluator().knowledge, metrics.of_quotas())
        self._log: asyncio.Task[None] | None = None
        if self.facts is not None:
            metrics.watch_facts(self.facts)

    @property
    def admission(self) -> Admission | None:
        """What charges quotas."""
        return self._charging.admission if self._charging is not None else None

    def start(self, *, interval: float) -> None:
        """Begins to watch, to charge, and to log problems, at which it looks each `interval` seconds."""
        if self.facts is not None:
            bound_arenas()
            self.facts.start()
            self._log = asyncio.create_task(_log(self.facts, interval))
        if self._charging is not None:
            self._charging.start()
        elif self._evaluator().config.quotas:
            structlog.get_logger().warning("quotas_not_charged", reason="no live cluster is watched; start with --live")

    def missing(self) -> str:
        """What keeps a server from being ready."""
        return missing(self.facts)

    def stop(self) -> None:
        """Stops charging, and then the facts on which charges rest."""
        if self._log is not None:
            self._log.cancel()
        if self._charging is not None:
            self._charging.stop(within=_STOP)
        if self.facts is not None:
            self.facts.stop(within=_STOP)


def missing(facts: LiveFacts | None) -> str:
    """What is yet to come of the cluster; once all has come, a lost watch does not take the server away."""
    awaited = facts.awaited() if facts is not None else []
    more = f" and {len(awaited) - _NAMED} more" if len(awaited) > _NAMED else ""
    return f"waiting for facts: {', '.join(awaited[:_NAMED])}{more}" if awaited else ""


async def _log(facts: LiveFacts, interval: float) -> None:
    """Tells of each problem with a kind once, if it lasts for longer than one look, and when it is over."""
    told: set[str] = set()
    seen: set[str] = set()
    was_ready = False
    while True:
        problems = facts.problems
        for kind, problem in problems.items():
            if kind in seen and kind not in told:
                told.add(kind)
                structlog.get_logger().warning("facts_problem", kind=kind, reason=problem)
        for kind in sorted(told - problems.keys()):
            told.remove(kind)
            structlog.get_logger().info("facts_recovered", kind=kind)
        seen = set(problems)
        if facts.ready and not was_ready:
            was_ready = True
            await asyncio.to_thread(give_back)
            structlog.get_logger().info("facts_ready", objects=sum(facts.store.counts().values()))
        await asyncio.sleep(min(interval, _LOOK))
