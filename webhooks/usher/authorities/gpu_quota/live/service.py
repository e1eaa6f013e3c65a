"""Charges the quotas of a cluster: builds the live parts and runs them."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

import structlog

from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live import observer
from usher.authorities.gpu_quota.live.accounts import Accounts
from usher.authorities.gpu_quota.live.admission import Admission
from usher.authorities.gpu_quota.live.conditions_writer import ConditionsWriter
from usher.authorities.gpu_quota.live.confirmation import BUILT_IN, DEFINITIONS
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.metering import NO_METER, Meter
from usher.authorities.gpu_quota.live.object_charges import ObjectCharges, RememberedCharges
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.authorities.gpu_quota.live.observer import Observer
from usher.authorities.gpu_quota.live.reconciler import AT_LEAST, Reconciler
from usher.authorities.gpu_quota.live.undeclared_accounts import UndeclaredAccounts
from usher.authorities.gpu_quota.live.unused_parts import UnusedParts
from usher.authorities.knowledge import Knowledge
from usher.cluster.watching import StreamingApi
from usher.dataclass import dataclass
from usher.kinds.kind import FactKind

LOOK: Final = 1.0
"""Seconds between looks for quotas."""


class _Assignments:
    """The quota that held when the objects of a namespace were read. The threads that read objects fill it."""

    def __init__(self) -> None:
        self._quotas: dict[str, str] = {}
        self._contradicted = False
        self._compared: object = None

    def note(self, namespace: str, quota: Quota | Undecided | None) -> None:
        """Notes that an object of a namespace was read while this quota held."""
        if self._quotas.setdefault(namespace, _name(quota)) != _name(quota):
            self._contradicted = True

    def have_changed(self, charges: ObjectCharges) -> bool:
        """Whether the quota of any namespace has changed."""
        # The same object until a quota, a namespace or usher.yaml changes.
        state = (charges.known.derived("assignment of quotas", assignment.SELECTED_BY, object), len(self._quotas))
        if state != self._compared:
            self._compared = state
            noted = list(self._quotas.items())
            self._contradicted |= any(_name(charges.quota(namespace)) != name for namespace, name in noted)
        return self._contradicted


def _name(quota: Quota | Undecided | None) -> str:
    return "undecided" if isinstance(quota, Undecided) else str(quota or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Basis:
    """The inputs of all charges. When they change, every object must be read again."""

    quotas: tuple[Quota, ...]
    known: Knowledge
    default_class: str


class ChargingService:
    """Charges the quotas of a cluster until the process ends; watches objects only while a quota exists."""

    def __init__(  # noqa: PLR0913 - all named
        self,
        api: Api,
        connect: Callable[[], StreamingApi],
        knowledge: Callable[[], Knowledge],
        *,
        namespace: str,
        clock: Callable[[], float] = time.time,
        meter: Meter = NO_METER,
    ) -> None:
        """Takes the parts that it works with.

        Args:
            api: the API server; it must answer within seconds, or not at all.
            connect: makes a connection to watch objects.
            knowledge: gives the knowledge in service.
            namespace: it has the accounts of the quotas of usher.yaml.
            clock: seconds since 1970.
            meter: counts charges and corrections.
        """
        self._connect = connect
        self._knowledge = knowledge
        self._clock = clock
        self._holdings = Holdings()
        accounts = Accounts(api, knowledge, namespace=namespace, meter=meter, clock=clock)
        self.admission = Admission(api, accounts, self._holdings, knowledge, clock=clock, meter=meter)
        self._reconciler = Reconciler(api, accounts, self._holdings, knowledge, clock=clock, meter=meter)
        self._conditions = ConditionsWriter(api, accounts, knowledge, clock=clock, meter=meter)
        self._unused = UnusedParts(api, namespace=namespace)
        self._undeclared = UndeclaredAccounts(api, knowledge, namespace=namespace, clock=clock)
        self._cared: tuple[int, float] = (-1, 0.0)
        """The revision of the facts and the time of the last look at the quota objects."""
        self._swept = 0.0
        """The time when unused parts were last deleted."""
        self._observer: Observer | None = None
        self._basis: _Basis | None = None
        self._assignments = _Assignments()
        self._complete = False
        """Whether all objects have been listed since the observer began."""
        self._logged: dict[str, str] = {}
        """Problems of watches that have been logged."""
        self._stopped = threading.Event()

    def start(self) -> None:
        """Starts to look for quotas."""
        threading.Thread(target=self._run, name="charging", daemon=True).start()
        threading.Thread(
            target=self._reconciler.run,
            args=(self._stopped.is_set,),
            kwargs={"ready": lambda: self.ready},
            name="reconciling",
            daemon=True,
        ).start()

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all threads; running charges still end."""
        self._stopped.set()
        self._reconciler.wake()
        self.admission.close()
        running = self._observer
        if running is not None:
            running.stop(within=within)

    @property
    def ready(self) -> bool:
        """Whether a quota exists and all objects have been listed."""
        running = self._observer
        return running is not None and running.ready

    def _run(self) -> None:
        while not self._stopped.wait(LOOK):
            try:
                self.look()
                self.care()
            except Exception as error:  # noqa: BLE001 - without this thread no new quota would be charged
                structlog.get_logger().warning("quotas_not_watched", error=type(error).__name__, reason=str(error))

    def look(self) -> None:
        """Starts to observe when a quota exists, and again when charges may have changed."""
        known = self._knowledge()
        quotas = tuple(each for each in assignment.quotas(known) if isinstance(each, Quota))
        basis = None
        if quotas:
            basis = _Basis(quotas=quotas, known=known, default_class=assignment.default_class(known))
        self._log_problems()
        changed = basis is not None and self._assignments.have_changed(ObjectCharges(known=known))
        if basis != self._basis or changed:
            self._begin(basis)
        self._log_completion()
        if self._observer is not None:
            self._observer.observe(self._kinds(known, self._assignments))
        if self._stopped.is_set() and self._observer is not None:
            self._observer.stop(within=0)

    def _begin(self, basis: _Basis | None) -> None:
        """Forgets all objects; they are listed again while a quota exists."""
        if self._observer is not None:
            self._observer.stop()
        # A thread that has not ended yet belongs to an earlier epoch and changes nothing.
        self._holdings.clear()
        self._assignments = _Assignments()
        self._observer = Observer(self._connect, self._holdings) if basis is not None else None
        self._basis = basis
        self._complete = False
        structlog.get_logger().info("quotas_watched", quotas=len(basis.quotas) if basis is not None else 0)

    def care(self) -> None:
        """Writes conditions and deletes unused objects, when facts have changed and every `AT_LEAST` seconds."""
        revision, now = self._knowledge().facts.revision, self._clock()
        before, at = self._cared
        if revision != before or not 0 <= now - at < AT_LEAST:
            self._cared = revision, now
            self._conditions.write()
            self._undeclared.delete()
        if not 0 <= now - self._swept < AT_LEAST:
            self._swept = now
            self._unused.delete()

    def _log_completion(self) -> None:
        """Logs once that charges can be compared with existing objects."""
        if not self._complete and self.ready:
            self._complete = True
            structlog.get_logger().info("workloads_observed", holding=len(self._holdings))

    def _log_problems(self) -> None:
        """Logs each problem of a watch once."""
        problems = self._observer.problems if self._observer is not None else {}
        for kind, reason in problems.items():
            if self._logged.get(kind) != reason:
                structlog.get_logger().warning("workloads_problem", kind=kind, reason=reason)
        self._logged = problems

    def _kinds(self, known: Knowledge, assignments: _Assignments) -> Iterator[FactKind]:
        """The kinds that make pods and that the cluster serves."""
        defined = known.facts.names(*DEFINITIONS)
        charges = RememberedCharges(ObjectCharges(known=known, on_read=assignments.note))
        for kind in observer.kinds(charges.of):
            if kind.group in BUILT_IN or defined is None or kind.resource in defined:
                yield kind
