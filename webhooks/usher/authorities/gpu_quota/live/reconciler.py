"""Keeps the ledgers true: what exists is charged, what is gone gives back, what was reserved for nothing ends.

Every replica does it, and none leads: what one has written the others find done. Watches may lag behind, so whatever
would lower a charge, and whatever charges by force, is confirmed by a read of that one object; and it is dropped where
the charge has changed since it was looked at.
"""

import random
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import structlog

from usher import errors
from usher.authorities.gpu_quota import assignment, reconciliation
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live import metering
from usher.authorities.gpu_quota.live.account_store import Account
from usher.authorities.gpu_quota.live.admission import WITHIN, Gate
from usher.authorities.gpu_quota.live.confirmation import Confirming
from usher.authorities.gpu_quota.live.holdings import Held, Holdings
from usher.authorities.gpu_quota.live.metering import NOBODY, Meter
from usher.authorities.gpu_quota.live.object_charges import Tariff
from usher.authorities.gpu_quota.live.owner_coverage import Charged
from usher.authorities.gpu_quota.reconciliation import Action, Adopt, Release, Settle
from usher.cluster.api import Lists
from usher.facts.store import Store
from usher.policy.evaluator import Evaluator
from usher.reading.lookup import Absence, Reference

INTERVAL: Final = 1.0
"""Seconds between looks at what has changed; a look at nothing new costs nothing."""

AT_LEAST: Final = 15.0
"""Seconds after which reservations are looked at though nothing has changed, and what failed is tried again."""

_MOST: Final = 200
"""Actions in one go: each may cost a read."""

_COUNTED: Final = {Settle: metering.Action.SETTLED, Release: metering.Action.RELEASED, Adopt: metering.Action.ADOPTED}


class Reconciler:
    """Compares what exists with what is charged, quota by quota."""

    def __init__(  # noqa: PLR0913 - what it asks, and of whom
        self,
        api: Lists,
        gate: Gate,
        holdings: Holdings,
        evaluator: Callable[[], Evaluator],
        *,
        clock: Callable[[], float],
        meter: Meter = NOBODY,
        shuffle: Callable[[list[Action]], None] = random.shuffle,
    ) -> None:
        """Takes the API server, what charges, what exists, the evaluator in service, a clock in seconds, what counts.

        `shuffle` puts what is to be done in an order: some of it may not be possible for long, and replicas are not to
        do all of it at the same time.
        """
        self._gate = gate
        self._holdings = holdings
        self._evaluator = evaluator
        self._clock = clock
        self._meter = meter
        self._shuffle = shuffle
        self._confirming = Confirming(api, holdings, evaluator)
        self._woken = threading.Event()
        self._told: dict[str, str] = {}
        """What could not be done, by quota, as far as it has been logged."""

    def run(self, stopped: Callable[[], bool], *, ready: Callable[[], bool]) -> None:
        """Goes on until told to stop; nothing is done before all that exists has been listed once."""
        seen, looked = (-1, -1), 0.0
        while not stopped():
            self._woken.wait(INTERVAL)
            self._woken.clear()
            now, state = self._clock(), (self._holdings.revision, self._facts.revision)
            if not ready() or (state == seen and 0 <= now - looked < AT_LEAST):
                continue
            seen, looked = state, now
            try:
                self.reconcile()
            except Exception as error:  # noqa: BLE001 - a thread that ended would leave every charge as it is for ever
                structlog.get_logger().error("quotas_not_reconciled", error=type(error).__name__)

    def wake(self) -> None:
        """Ends the wait."""
        self._woken.set()

    def reconcile(self) -> int:
        """Looks at every quota once, also where another one cannot be written. Returns how many charges were changed.

        What the API server does not answer is logged, once, and tried again the next time.
        """
        tariff = Tariff(evaluator=self._evaluator())
        quotas = [each for each in assignment.quotas(self._facts, tariff.evaluator.config) if isinstance(each, Quota)]
        self._gate.keep_books(quotas)
        own = defaultdict[str, list[Held]](list)
        for namespace, held in self._holdings.by_namespace().items():
            holds = tariff.quota(namespace)
            if isinstance(holds, Quota):
                own[str(holds)] += held
        changed, problems = 0, dict[str, str]()
        for quota in quotas:
            try:
                changed += self._reconcile(quota, own[str(quota)], tariff)
            except (errors.ClusterError, TimeoutError) as error:
                problems[str(quota)] = str(error)
        self._tell(problems)
        return changed

    def _tell(self, problems: dict[str, str]) -> None:
        for quota, reason in problems.items():
            if self._told.get(quota) != reason:
                structlog.get_logger().warning("quota_not_reconciled", quota=quota, reason=reason)
        self._told = problems

    def _reconcile(self, quota: Quota, held: Sequence[Held], tariff: Tariff) -> int:
        found = self._ledger(quota)
        if found is None:
            return 0
        charged = charged_in(found)
        roots = self._holdings.roots(charged, among=held)
        planned = reconciliation.actions(found, roots, quota.limits, int(self._clock()))
        self._shuffle(planned)
        confirmed = list(self._confirmed(planned[:_MOST], quota, tariff, charged))
        if not confirmed:
            return 0
        book = self._gate.book(quota)
        applied = book.change(lambda account: _applied(account, confirmed), within=WITHIN).result(timeout=2 * WITHIN)
        for action in applied:
            self._meter.reconciled(_COUNTED[type(action)])
        return len(applied)

    def _ledger(self, quota: Quota) -> Ledger | None:
        if quota.declared:
            return self._gate.shelf(quota).read().state.ledger
        value = self._facts.find(
            Reference(group=gpu_quota_definitions.GROUP, kind=gpu_quota_definitions.KIND, name=quota.name)
        )
        if isinstance(value, Absence):
            return None
        decoded = gpu_quota_status.decode(value.get("status"))
        return decoded.ledger if decoded.writable else None

    def _confirmed(self, planned: Sequence[Action], quota: Quota, tariff: Tariff, charged: Charged) -> Iterator[Action]:
        for action in planned:
            holds = tariff.quota(action.entry.namespace)
            if isinstance(holds, Undecided):
                # Whose it is nobody knows: it stays, unless it is there no more, perhaps with its namespace.
                if isinstance(action, Release) and self._confirming.is_gone(action.entry):
                    yield action
            elif holds != quota:
                if isinstance(action, Release):
                    yield Release(entry=action.entry, reason="its namespace is not of this quota any more")
            elif isinstance(action, Settle) and not action.lowers:
                yield action
            else:
                yield from self._confirming.confirmed(action, tariff, charged)

    @property
    def _facts(self) -> Store:
        return self._evaluator().facts


def charged_in(found: Ledger) -> Charged:
    """Whether a ledger has an entry for an object."""
    return lambda holding: bool(reconciliation.entries_of(holding, found))


def _applied(account: Account, actions: Sequence[Action]) -> tuple[Account, list[Action]]:
    """The account after all actions, and those that changed it; what has been charged meanwhile stays as it is."""
    found, limits, changed = account.ledger, account.quota.limits, list[Action]()
    for action in actions:
        if isinstance(action, Adopt) and gpu_quota_ledger.find(found, action.entry) is not None:
            continue
        after = reconciliation.apply(found, action, limits)
        if after != found:
            changed.append(action)
        found = after
    return replace(account, ledger=found), changed
