"""Charges the quotas of a cluster: builds the live parts and runs them.

Every replica does this, without a leader: the other replicas find the correction done. Watches can lag behind. So a
live read of the object confirms every action that lowers a charge or charges by force. An action is dropped if the
charge has changed since.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.authorities.gpu_quota import assignment, ledger
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Action, Adopt, Ledger, Release, Settle
from usher.authorities.gpu_quota.live import account_store, observer
from usher.authorities.gpu_quota.live.account_store import NO_METER, QUOTAS_PATH, Account, Api, Correction, Meter
from usher.authorities.gpu_quota.live.accounts import Accounts, UndeclaredAccounts, UnusedParts
from usher.authorities.gpu_quota.live.admission import DEFINITIONS, Admission, Confirmation
from usher.authorities.gpu_quota.live.holdings import (
    BUILT_IN_GROUPS,
    Held,
    Holdings,
    IsCharged,
    ObjectCharges,
    RememberedCharges,
)
from usher.authorities.gpu_quota.live.observer import Observer
from usher.authorities.gpu_quota.status import Condition, Decoded
from usher.authorities.knowledge import Knowledge
from usher.cluster import api as cluster_api
from usher.cluster.api import Lists
from usher.cluster.watching import StreamingApi
from usher.kinds.kind import FactKind
from usher.kinds.reading.values import Absence


class ConditionsWriter:
    """Compares the condition of each GPUQuota with its state."""

    def __init__(
        self,
        api: Api,
        accounts: Accounts,
        knowledge: Callable[[], Knowledge],
        *,
        clock: Callable[[], float],
        meter: Meter = NO_METER,
    ) -> None:
        """Takes the API server, the accounts, the knowledge in service, a clock in seconds since 1970, and a meter."""
        self._api = api
        self._accounts = accounts
        self._knowledge = knowledge
        self._clock = clock
        self._meter = meter
        self._logged: dict[str, str] = {}
        """Errors of quotas that could not be written at the last look, by name."""

    def write(self) -> int:
        """Looks at every GPUQuota. Returns how many conditions have changed; a failure is logged once."""
        known = self._knowledge()
        found = known.facts.objects(gpu_quota_definitions.GROUP, gpu_quota_definitions.KIND)
        if isinstance(found, Absence):
            return 0
        overlaps = _quota_overlaps(known)
        changed, problems = 0, dict[str, str]()
        for name, value in found.items():
            overlap = overlaps.get(name, "")
            try:
                if gpu_quota_status.find_condition(value.get("status")) == self._condition(value, overlap):
                    continue
                changed += self._write(name, overlap)
            except errors.ClusterError as error:
                problems[name] = str(error)
        for name, reason in problems.items():
            if self._logged.get(name) != reason:
                structlog.get_logger().warning("quota_not_described", quota=name, reason=reason)
        self._logged = problems
        return changed

    def _write(self, name: str, overlap: str) -> bool:
        """Writes the current condition of a quota; after a conflict, the next look decides again."""
        answer = self._api.get(f"{QUOTAS_PATH}/{name}")
        if answer.status == 404:
            return False
        if answer.status != 200:
            raise cluster_api.failure(answer, f"{QUOTAS_PATH}/{name} cannot be read")
        status, condition = answer.value.get("status"), self._condition(answer.value, overlap)
        if gpu_quota_status.find_condition(status) == condition:
            return False
        now = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        new = gpu_quota_status.put_condition(status, condition, now=now)
        written = self._api.put(f"{QUOTAS_PATH}/{name}/status", {**answer.value, "status": new})
        if written.status == 409:
            self._meter.conflicted()
            return False
        if written.status != 200:
            raise cluster_api.failure(written, f"{QUOTAS_PATH}/{name}/status cannot be written")
        self._meter.reconciled(Correction.CONDITION)
        structlog.get_logger().info("quota_described", quota=name, reason=condition.reason, message=condition.message)
        return True

    def _condition(self, value: paths.Object, overlap: str) -> Condition:
        """The condition of a quota; the parts of a large account are read for it."""
        quota, found = gpu_quota_definitions.of_object(value), gpu_quota_status.decode(value.get("status"))
        if isinstance(quota, Quota) and found.parts and found.writable:
            found = self._with_parts(quota, found)
        return gpu_quota_status.condition_of_quota(quota, found, overlap)

    def _with_parts(self, quota: Quota, found: Decoded) -> Decoded:
        """The account with the entries of its parts, or with the reason why they cannot be read."""
        try:
            account = self._accounts.store(quota).read().state
        except errors.UnavailableError:
            raise
        except errors.ClusterError as error:
            return replace(found, problems=(*found.problems, ("/status/parts", str(error))))
        problems = (*found.problems, *_account_problems(account))
        return replace(found, ledger=account.ledger, problems=problems, counting=account.counting)


def _account_problems(account: Account) -> Iterator[tuple[str, str]]:
    if account.unread_in_parts:
        yield "/status/parts", f"{account.unread_in_parts} entries cannot be read"


def _quota_overlaps(known: Knowledge) -> Mapping[str, str]:
    labels = assignment.labels_of_namespaces(known.facts) or {}
    return gpu_quota_status.overlap_texts(
        assignment.all_quotas(known), {name: each for name, each in labels.items() if each is not None}
    )


RECONCILE_INTERVAL: Final = 1.0
"""Seconds between looks at changes; a look without changes costs nothing."""

LONGEST_PAUSE: Final = 15.0
"""Seconds until a look without a change: reservations end, and failed actions are tried again."""

_WITHIN: Final = 2.0
"""Seconds within which a correction must be written."""

_MOST_ACTIONS: Final = 200
"""The most actions in one look that cost a read each."""

_MOST_SETTLED: Final = 2_000
"""The most other actions in one look. In a burst as many workloads may appear between two looks."""

_SHARE: Final = 10
"""After a look, usher waits for so many times as long as it took: looks at large accounts must not delay reviews."""

_COUNTED: Final = {
    Settle: account_store.Correction.SETTLED,
    Release: account_store.Correction.RELEASED,
    Adopt: account_store.Correction.ADOPTED,
}


class Reconciler:
    """Compares existing objects with charges, quota by quota."""

    def __init__(  # noqa: PLR0913 - all named
        self,
        api: Lists,
        accounts: Accounts,
        holdings: Holdings,
        knowledge: Callable[[], Knowledge],
        *,
        clock: Callable[[], float],
        meter: Meter = NO_METER,
        shuffle: Callable[[list[Action]], None] = random.shuffle,
        observed: Callable[[Quota], bool] = lambda _quota: True,
    ) -> None:
        """Takes the parts that it works with.

        Args:
            clock: seconds since 1970.
            shuffle: orders actions at random: a failing action must not delay the others, and replicas should not
                all begin with the same action.
            observed: whether all objects have been listed while a quota existed; only then can they be counted.
        """
        self._accounts = accounts
        self._holdings = holdings
        self._knowledge = knowledge
        self._clock = clock
        self._meter = meter
        self._shuffle = shuffle
        self._observed = observed
        self._confirmation = Confirmation(api, holdings, knowledge)
        self._woken = threading.Event()
        self._logged: dict[str, str] = {}
        """Errors of quotas that could not be corrected at the last look."""

    def run(self, stopped: Callable[[], bool], *, ready: Callable[[], bool]) -> None:
        """Corrects accounts until stopped. It begins after all objects have been listed."""
        seen, looked, took = (-1, -1), 0.0, 0.0
        while not stopped():
            self._woken.wait(min(max(RECONCILE_INTERVAL, _SHARE * took), LONGEST_PAUSE))
            self._woken.clear()
            now, state = self._clock(), (self._holdings.revision, self._knowledge().facts.revision)
            if not ready() or (state == seen and 0 <= now - looked < LONGEST_PAUSE):
                continue
            seen, looked, began = state, now, time.thread_time()
            try:
                self.reconcile()
            except Exception as error:  # noqa: BLE001 - without this thread no charge would be corrected
                structlog.get_logger().error("quotas_not_reconciled", error=type(error).__name__)
            took = time.thread_time() - began

    def wake(self) -> None:
        """Ends the wait of `run`."""
        self._woken.set()

    def reconcile(self) -> int:
        """Corrects every account once, even if another account cannot be written.

        Returns how many charges have changed. A failure is logged once and tried again at the next look.
        """
        known = self._knowledge()
        charges = ObjectCharges(known=known)
        quotas = [each for each in assignment.all_quotas(known) if isinstance(each, Quota)]
        self._accounts.forget_others(quotas)
        # Before the objects are taken: from then on they are complete, unless they are all forgotten.
        epoch, observed = self._holdings.epoch, [each for each in quotas if self._observed(each)]
        by_quota = defaultdict[str, list[Held]](list)
        for namespace, held in self._holdings.by_namespace().items():
            assigned = charges.quota(namespace)
            if isinstance(assigned, Quota):
                by_quota[str(assigned)] += held
        if epoch != self._holdings.epoch:
            observed = []
        changed, problems = 0, dict[str, str]()
        for quota in quotas:
            try:
                changed += self._reconcile(quota, by_quota[str(quota)], charges, observed=quota in observed)
            except (errors.ClusterError, TimeoutError) as error:
                problems[str(quota)] = str(error)
        self._log(problems)
        return changed

    def _log(self, problems: dict[str, str]) -> None:
        for quota, reason in problems.items():
            if self._logged.get(quota) != reason:
                structlog.get_logger().warning("quota_not_reconciled", quota=quota, reason=reason)
        self._logged = problems

    def _reconcile(self, quota: Quota, held: Sequence[Held], charges: ObjectCharges, *, observed: bool) -> int:
        account = self._accounts.store(quota).read().state
        found, is_charged = account.ledger, charged_in(account.ledger)
        roots = self._holdings.roots(is_charged, among=held)
        planned = ledger.plan_actions(found, roots, quota.limits, int(self._clock()))
        if account.counting:
            return self._count(quota, planned) if observed else 0
        self._shuffle(planned)
        confirmed = list(self._confirmed(_first_actions(planned), quota, charges, is_charged))
        if not confirmed:
            return 0
        return self._apply(quota, lambda account: _apply_actions(account, confirmed))

    def _count(self, quota: Quota, planned: Sequence[Action]) -> int:
        """Charges everything that exists, so that the quota can be enforced.

        It trusts the lists of all objects: a read of each would take minutes. What was deleted meanwhile is charged
        until the next look.
        """
        adopts = [action for action in planned if isinstance(action, Adopt)]
        changed = 0
        for first in range(0, max(len(adopts), 1), _MOST_SETTLED):
            some, last = adopts[first : first + _MOST_SETTLED], first + _MOST_SETTLED >= len(adopts)
            changed += self._apply(quota, partial(_count_actions, actions=some, last=last))
        structlog.get_logger().info("quota_counted", quota=str(quota), workloads=len(adopts))
        return changed

    def _apply(self, quota: Quota, change: Callable[[Account], tuple[Account, list[Action]]]) -> int:
        applied = self._accounts.writer(quota).change(change, within=_WITHIN).result(2 * _WITHIN)
        for action in applied:
            self._meter.reconciled(_COUNTED[type(action)])
        return len(applied)

    def _confirmed(
        self, planned: Sequence[Action], quota: Quota, charges: ObjectCharges, is_charged: IsCharged
    ) -> Iterator[Action]:
        for action in planned:
            assigned = charges.quota(action.entry.namespace)
            if isinstance(assigned, Undecided):
                # It is undecided which quota holds, so the entry stays while its object exists.
                if isinstance(action, Release) and self._confirmation.is_gone(action.entry):
                    yield action
            elif assigned != quota:
                if isinstance(action, Release):
                    yield Release(entry=action.entry, reason="this quota does not hold for its namespace any more")
            elif isinstance(action, Settle) and not action.lowers:
                yield action
            else:
                yield from self._confirmation.confirmed(action, is_charged)


def _first_actions(planned: Sequence[Action]) -> list[Action]:
    """As many actions as one look makes."""
    free = [action for action in planned if isinstance(action, Settle) and not action.lowers]
    others = [action for action in planned if not isinstance(action, Settle) or action.lowers]
    return [*free[:_MOST_SETTLED], *others[:_MOST_ACTIONS]]


def charged_in(found: Ledger) -> IsCharged:
    """Whether a ledger has an entry for an object."""
    return lambda holding: bool(ledger.entries_of_holding(holding, found))


def _apply_actions(account: Account, actions: Sequence[Action]) -> tuple[Account, list[Action]]:
    """The account after all actions, and the actions that changed it. Charges made meanwhile stay."""
    found, limits, changed = account.ledger, account.quota.limits, list[Action]()
    for action in actions:
        if isinstance(action, Adopt) and ledger.find_entry(found, action.entry) is not None:
            continue
        after = ledger.apply_action(found, action, limits)
        if after != found:
            changed.append(action)
        found = after
    return account.charged(found), changed


def _count_actions(account: Account, actions: Sequence[Action], *, last: bool) -> tuple[Account, list[Action]]:
    """The account with existing objects charged; after the `last` ones it is counted."""
    if not account.counting:
        return account, []
    counted, changed = _apply_actions(account, actions)
    return replace(counted, counting=not last), changed


LOOK_INTERVAL: Final = 1.0
"""Seconds between looks for quotas."""


class _Assignments:
    """The quota that held when the objects of a namespace were read. The threads that read objects fill it."""

    def __init__(self) -> None:
        self._quotas: dict[str, str] = {}
        self._contradicted = False
        self._compared: object = None

    def note(self, namespace: str, quota: Quota | Undecided | None) -> None:
        """Notes that an object of a namespace was read while this quota held."""
        if self._quotas.setdefault(namespace, _quota_name(quota)) != _quota_name(quota):
            self._contradicted = True

    def have_changed(self, charges: ObjectCharges) -> bool:
        """Whether the quota of any namespace has changed."""
        # The same object until a quota, a namespace or usher.yaml changes.
        state = (charges.known.derived("assignment of quotas", assignment.SELECTING_KINDS, object), len(self._quotas))
        if state != self._compared:
            self._compared = state
            noted = list(self._quotas.items())
            self._contradicted |= any(_quota_name(charges.quota(namespace)) != name for namespace, name in noted)
        return self._contradicted


def _quota_name(quota: Quota | Undecided | None) -> str:
    return "undecided" if isinstance(quota, Undecided) else str(quota or "")


class _ChargeInputs(Struct, frozen=True, kw_only=True):
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
            namespace: it has the accounts of the quotas of usher.yaml.
            clock: seconds since 1970.
        """
        self._connect = connect
        self._knowledge = knowledge
        self._clock = clock
        self._holdings = Holdings()
        accounts = Accounts(api, knowledge, namespace=namespace, meter=meter, clock=clock)
        self.admission = Admission(api, accounts, self._holdings, knowledge, clock=clock, meter=meter)
        self._reconciler = Reconciler(
            api, accounts, self._holdings, knowledge, clock=clock, meter=meter, observed=self._is_observed
        )
        self._conditions = ConditionsWriter(api, accounts, knowledge, clock=clock, meter=meter)
        self._unused = UnusedParts(api, namespace=namespace)
        self._undeclared = UndeclaredAccounts(api, knowledge, namespace=namespace, clock=clock)
        self._cared: tuple[int, float] = (-1, 0.0)
        """The revision of the facts and the time of the last look at the quota objects."""
        self._swept = 0.0
        """The time when unused parts were last deleted."""
        self._observer: Observer | None = None
        self._basis: _ChargeInputs | None = None
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

    def _is_observed(self, quota: Quota) -> bool:
        """Whether all objects have been listed while this quota existed, and their changes have arrived since."""
        running, basis = self._observer, self._basis
        listed = running is not None and running.ready and running.current
        return listed and basis is not None and quota in basis.quotas

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_INTERVAL):
            try:
                self.look()
                self.care()
            except Exception as error:  # noqa: BLE001 - without this thread no new quota would be charged
                structlog.get_logger().warning("quotas_not_watched", error=type(error).__name__, reason=str(error))

    def look(self) -> None:
        """Starts to observe when a quota exists, and again when charges may have changed."""
        known = self._knowledge()
        quotas = tuple(each for each in assignment.all_quotas(known) if isinstance(each, Quota))
        basis = None
        if quotas:
            basis = _ChargeInputs(quotas=quotas, known=known, default_class=assignment.default_class(known))
        self._log_problems()
        changed = basis is not None and self._assignments.have_changed(ObjectCharges(known=known))
        if basis != self._basis or changed:
            self._begin(basis)
        self._log_completion()
        if self._observer is not None:
            self._observer.observe(self._kinds(known, self._assignments))
        if self._stopped.is_set() and self._observer is not None:
            self._observer.stop(within=0)

    def _begin(self, basis: _ChargeInputs | None) -> None:
        """Forgets all objects; they are listed again while a quota exists."""
        before, self._observer = self._observer, None
        if before is not None:
            before.stop()
        # A thread that has not ended yet belongs to an earlier epoch and changes nothing.
        self._holdings.clear()
        self._assignments = _Assignments()
        self._basis = basis
        self._observer = Observer(self._connect, self._holdings) if basis is not None else None
        self._complete = False
        structlog.get_logger().info("quotas_watched", quotas=len(basis.quotas) if basis is not None else 0)

    def care(self) -> None:
        """Writes conditions and deletes unused objects, when facts have changed and every `AT_LEAST` seconds."""
        revision, now = self._knowledge().facts.revision, self._clock()
        before, at = self._cared
        if revision != before or not 0 <= now - at < LONGEST_PAUSE:
            self._cared = revision, now
            self._conditions.write()
            self._undeclared.delete()
        if not 0 <= now - self._swept < LONGEST_PAUSE:
            self._swept = now
            self._unused.delete()

    def _log_completion(self) -> None:
        """Logs once that charges can be compared with existing objects."""
        if not self._complete and self.ready:
            self._complete = True
            structlog.get_logger().info("workloads_observed", holding=len(self._holdings))
            self._reconciler.wake()

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
            if kind.group in BUILT_IN_GROUPS or defined is None or kind.resource in defined:
                yield kind
