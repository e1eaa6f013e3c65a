"""All that charging needs, put together: what exists is watched as soon as there is a quota, and no sooner."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import structlog

from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live import observer
from usher.authorities.gpu_quota.live.account_store import Api
from usher.authorities.gpu_quota.live.admission import Gate
from usher.authorities.gpu_quota.live.conditions_writer import Describing
from usher.authorities.gpu_quota.live.confirmation import BUILT_IN, DEFINITIONS
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.metering import NOBODY, Meter
from usher.authorities.gpu_quota.live.object_charges import LikePods, Tariff
from usher.authorities.gpu_quota.live.observer import Observers
from usher.authorities.gpu_quota.live.reconciler import AT_LEAST, Reconciler
from usher.cluster.live import Connection
from usher.facts.store import Store
from usher.kinds.kept_fields import FactKind
from usher.policy.evaluator import Evaluator

LOOK: Final = 1.0
"""Seconds between looks whether there are quotas, and which."""

_NOBODY_KNOWS: Final = "?"
"""No name of a quota."""


class Assigned:
    """By which quota the objects of each namespace were read. Filled by the threads that read objects."""

    def __init__(self) -> None:
        self._quotas: dict[str, str] = {}
        self._contradicted = False
        self._compared: object = None
        """What the quotas of namespaces followed from when they were last compared, and for how many."""

    def note(self, namespace: str, quota: Quota | Undecided | None) -> None:
        """An object of a namespace was read by a quota."""
        if self._quotas.setdefault(namespace, _name(quota)) != _name(quota):
            self._contradicted = True

    def changed(self, tariff: Tariff) -> bool:
        """Whether for any of the namespaces another quota holds now."""
        state = (tariff.assignment, len(self._quotas))
        if state != self._compared:
            self._compared = state
            noted = list(self._quotas.items())
            self._contradicted |= any(_name(tariff.quota(namespace)) != name for namespace, name in noted)
        return self._contradicted


def _name(quota: Quota | Undecided | None) -> str:
    if quota is None:
        return ""
    return _NOBODY_KNOWS if isinstance(quota, Undecided) else str(quota)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """What the observers were begun for: with another one, objects are charged otherwise."""

    quotas: tuple[Quota, ...]
    evaluator: Evaluator
    default_class: str


class Charging:
    """Charges the quotas of a cluster for as long as the process lives."""

    def __init__(  # noqa: PLR0913 - what it asks, and of whom
        self,
        api: Api,
        connect: Callable[[], Connection],
        facts: Store,
        evaluator: Callable[[], Evaluator],
        *,
        namespace: str,
        clock: Callable[[], float] = time.time,
        meter: Meter = NOBODY,
    ) -> None:
        """Takes all that is asked and from where.

        Args:
            api: the API server for what somebody waits for: it answers within seconds or not at all.
            connect: makes a connection to watch what exists.
            facts: what is known of the cluster.
            evaluator: gives the evaluator in service.
            namespace: our own.
            clock: seconds since 1970.
            meter: what counts.
        """
        self._connect = connect
        self._facts = facts
        self._evaluator = evaluator
        self._clock = clock
        self._holdings = Holdings()
        self.gate = Gate(api, self._holdings, evaluator, namespace=namespace, clock=clock, meter=meter)
        self._reconciler = Reconciler(api, self.gate, self._holdings, evaluator, clock=clock, meter=meter)
        self._describing = Describing(api, evaluator, clock=clock, meter=meter)
        self._described: tuple[int, float] = (-1, 0.0)
        self._observers: Observers | None = None
        self._reason: _Reason | None = None
        self._assigned = Assigned()
        self._complete = False
        """Whether all that exists has been listed since the observers began."""
        self._told: dict[str, str] = {}
        """Problems that have been logged."""
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begins to look for quotas."""
        threading.Thread(target=self._watch, name="charging", daemon=True).start()
        threading.Thread(
            target=self._reconciler.run,
            args=(self._stopped.is_set,),
            kwargs={"ready": lambda: self.ready},
            name="reconciling",
            daemon=True,
        ).start()

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all threads; charges that are under way still end."""
        self._stopped.set()
        self._reconciler.wake()
        self.gate.close()
        observers = self._observers
        if observers is not None:
            observers.stop(within=within)

    @property
    def ready(self) -> bool:
        """Whether there is a quota, and all that exists is known."""
        observers = self._observers
        return observers is not None and len(observers) > 0 and observers.ready

    def _watch(self) -> None:
        while not self._stopped.wait(LOOK):
            try:
                self.look()
                self._describe()
            except Exception as error:  # noqa: BLE001 - a thread that ended would leave all as it is for ever
                structlog.get_logger().warning("quotas_not_watched", error=type(error).__name__, reason=str(error))

    def look(self) -> None:
        """Begins to observe where there is a quota, and begins anew where what objects are charged may have changed."""
        evaluator = self._evaluator()
        tariff = Tariff(evaluator=evaluator)
        quotas = tuple(each for each in assignment.quotas(self._facts, evaluator.config) if isinstance(each, Quota))
        reason = None
        if quotas:
            default_class = assignment.default_class(self._facts, evaluator.config)
            reason = _Reason(quotas=quotas, evaluator=evaluator, default_class=default_class)
        self._tell_problems()
        if reason != self._reason or (reason is not None and self._assigned.changed(tariff)):
            self._begin(reason)
        self._tell_completion()
        if self._observers is not None:
            self._observers.observe(self._kinds(self._assigned))
        if self._stopped.is_set() and self._observers is not None:
            self._observers.stop(within=0)

    def _begin(self, reason: _Reason | None) -> None:
        """Forgets what exists; it is listed anew where there is a quota."""
        if self._observers is not None:
            self._observers.stop()
        # Whoever has not ended yet puts nothing more into them.
        self._holdings.clear()
        self._assigned = Assigned()
        self._observers = Observers(self._connect, self._holdings) if reason is not None else None
        self._reason = reason
        self._complete = False
        structlog.get_logger().info("quotas_watched", quotas=len(reason.quotas) if reason is not None else 0)

    def _describe(self) -> None:
        revision, now = self._facts.revision, self._clock()
        before, at = self._described
        if revision != before or not 0 <= now - at < AT_LEAST:
            self._described = revision, now
            self._describing.describe()

    def _tell_completion(self) -> None:
        """Logs once that charges can be compared with what exists."""
        if not self._complete and self.ready:
            self._complete = True
            structlog.get_logger().info("workloads_observed", holding=len(self._holdings))

    def _tell_problems(self) -> None:
        """Logs what keeps us from knowing what exists, each problem once."""
        problems = self._observers.problems if self._observers is not None else {}
        for kind, reason in problems.items():
            if self._told.get(kind) != reason:
                structlog.get_logger().warning("workloads_problem", kind=kind, reason=reason)
        self._told = problems

    def _kinds(self, assigned: Assigned) -> Iterator[FactKind]:
        """The kinds that make pods and that the cluster has."""
        defined = self._facts.names(*DEFINITIONS)
        # With another evaluator everything is begun anew.
        tariff = LikePods(Tariff(evaluator=self._evaluator(), noted=assigned.note))
        for kind in observer.kinds(lambda: tariff):
            if kind.group in BUILT_IN or defined is None or kind.resource in defined:
                yield kind
