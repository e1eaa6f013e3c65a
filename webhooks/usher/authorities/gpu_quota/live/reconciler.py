"""Corrects accounts: charges existing objects, releases deleted ones, and ends unused reservations.

Every replica does this, without a leader: the other replicas find the correction done. Watches can lag behind. So a
live read of the object confirms every action that lowers a charge or charges by force. An action is dropped if the
charge has changed since.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import structlog

from usher import errors
from usher.authorities.gpu_quota import assignment, reconciliation
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live import metering
from usher.authorities.gpu_quota.live.account_heads import Account
from usher.authorities.gpu_quota.live.accounts import Accounts
from usher.authorities.gpu_quota.live.confirmation import Confirmation
from usher.authorities.gpu_quota.live.held import Held
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.metering import NO_METER, Meter
from usher.authorities.gpu_quota.live.object_charges import ObjectCharges
from usher.authorities.gpu_quota.live.owner_coverage import IsCharged
from usher.authorities.gpu_quota.reconciliation import Action, Adopt, Release, Settle
from usher.authorities.knowledge import Knowledge
from usher.cluster.api import Lists

INTERVAL: Final = 1.0
"""Seconds between looks at changes; a look without changes costs nothing."""

AT_LEAST: Final = 15.0
"""Seconds until a look without a change: reservations end, and failed actions are tried again."""

_WITHIN: Final = 2.0
"""Seconds within which a correction must be written."""

_MOST: Final = 200
"""The most actions in one look that cost a read each."""

_MOST_SETTLED: Final = 2_000
"""The most other actions in one look. In a burst as many workloads may appear between two looks."""

_SHARE: Final = 10
"""After a look, usher waits for so many times as long as it took: looks at large accounts must not delay reviews."""

_COUNTED: Final = {Settle: metering.Action.SETTLED, Release: metering.Action.RELEASED, Adopt: metering.Action.ADOPTED}


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
    ) -> None:
        """Takes the parts that it works with.

        Args:
            api: the API server.
            accounts: the accounts of all quotas.
            holdings: the existing objects.
            knowledge: gives the knowledge in service.
            clock: seconds since 1970.
            meter: counts corrections.
            shuffle: orders actions at random: a failing action must not delay the others, and replicas should not
                  all begin with the same action.
        """
        self._accounts = accounts
        self._holdings = holdings
        self._knowledge = knowledge
        self._clock = clock
        self._meter = meter
        self._shuffle = shuffle
        self._confirmation = Confirmation(api, holdings, knowledge)
        self._woken = threading.Event()
        self._logged: dict[str, str] = {}
        """Errors of quotas that could not be corrected at the last look."""

    def run(self, stopped: Callable[[], bool], *, ready: Callable[[], bool]) -> None:
        """Corrects accounts until stopped. It begins after all objects have been listed."""
        seen, looked, took = (-1, -1), 0.0, 0.0
        while not stopped():
            self._woken.wait(min(max(INTERVAL, _SHARE * took), AT_LEAST))
            self._woken.clear()
            now, state = self._clock(), (self._holdings.revision, self._knowledge().facts.revision)
            if not ready() or (state == seen and 0 <= now - looked < AT_LEAST):
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
        quotas = [each for each in assignment.quotas(known) if isinstance(each, Quota)]
        self._accounts.forget_others(quotas)
        by_quota = defaultdict[str, list[Held]](list)
        for namespace, held in self._holdings.by_namespace().items():
            assigned = charges.quota(namespace)
            if isinstance(assigned, Quota):
                by_quota[str(assigned)] += held
        changed, problems = 0, dict[str, str]()
        for quota in quotas:
            try:
                changed += self._reconcile(quota, by_quota[str(quota)], charges)
            except (errors.ClusterError, TimeoutError) as error:
                problems[str(quota)] = str(error)
        self._log(problems)
        return changed

    def _log(self, problems: dict[str, str]) -> None:
        for quota, reason in problems.items():
            if self._logged.get(quota) != reason:
                structlog.get_logger().warning("quota_not_reconciled", quota=quota, reason=reason)
        self._logged = problems

    def _reconcile(self, quota: Quota, held: Sequence[Held], charges: ObjectCharges) -> int:
        found = self._accounts.store(quota).read().state.ledger
        is_charged = charged_in(found)
        roots = self._holdings.roots(is_charged, among=held)
        planned = reconciliation.actions(found, roots, quota.limits, int(self._clock()))
        self._shuffle(planned)
        confirmed = list(self._confirmed(_most(planned), quota, charges, is_charged))
        if not confirmed:
            return 0
        writer = self._accounts.writer(quota)
        applied = writer.change(lambda account: _applied(account, confirmed), within=_WITHIN).result(2 * _WITHIN)
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


def _most(planned: Sequence[Action]) -> list[Action]:
    """As many actions as one look makes."""
    free = [action for action in planned if isinstance(action, Settle) and not action.lowers]
    others = [action for action in planned if not isinstance(action, Settle) or action.lowers]
    return [*free[:_MOST_SETTLED], *others[:_MOST]]


def charged_in(found: Ledger) -> IsCharged:
    """Whether a ledger has an entry for an object."""
    return lambda holding: bool(reconciliation.entries_of(holding, found))


def _applied(account: Account, actions: Sequence[Action]) -> tuple[Account, list[Action]]:
    """The account after all actions, and the actions that changed it. Charges made meanwhile stay."""
    found, limits, changed = account.ledger, account.quota.limits, list[Action]()
    for action in actions:
        if isinstance(action, Adopt) and gpu_quota_ledger.find(found, action.entry) is not None:
            continue
        after = reconciliation.apply(found, action, limits)
        if after != found:
            changed.append(action)
        found = after
    return account.charged(found), changed
