"""One writer for the account of each quota. This process changes accounts only through these writers.

A writer makes a change to the account that the API server holds, and writes it only if no other replica wrote since
(compare-and-swap on the resource version); otherwise it makes the change again. So replicas need no leader and no lock.
Changes that wait at the same time are written together: a burst of jobs costs a few writes.
"""

import queue
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from usher import errors
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live.account_store import (
    NO_METER,
    Account,
    AccountStore,
    Api,
    ConfigMapStore,
    Meter,
    StatusStore,
    Stored,
)
from usher.authorities.knowledge import Knowledge
from usher.cluster.http_clients import Backoff

MOST_TOGETHER: Final = 64
"""The most changes in one write: one refusal must not delay a thousand other changes."""

ATTEMPTS: Final = 40
"""How many conflicts in a row make a writer give up; even a hundred replicas stay below."""

_SHORTEST_WAIT: Final = 0.002
_FIRST_WAIT: Final = 0.01
_LONGEST_WAIT: Final = 0.2
"""The longest waits after the first conflict and after many, in seconds. Waits are random, so that replicas do not
collide again."""

_FIRST_RETRY: Final = 0.05
_LONGEST_RETRY: Final = 0.4
"""The first and the longest wait in seconds after the API server was busy or failed. A review waits two in all."""

_CONTENDED: Final = 1.0
"""Seconds after a conflict in which a writer leaves time for others after each write. A writer that has just written
needs no read, so it would come first again and again; changes that wait meanwhile are written together."""

_PAUSE: Final = 3.0
"""That time, as a multiple of the time that the write took."""

_State = TypeVar("_State")
_Result = TypeVar("_Result")

Change = Callable[[_State], tuple[_State, _Result]]
"""Makes the next state and a result; returns the same state to write nothing. It may run several times."""


class _Waiting(Struct, Generic[_State], kw_only=True):
    change: Change[_State, Any]
    until: float
    result: "Future[Any]"


class AccountWriter(Generic[_State]):
    """Changes one account, in a thread that lives for as long as changes wait."""

    def __init__(
        self,
        store: AccountStore[_State],
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Takes the store of the account, a clock in seconds, a sleep function, and random numbers from 0 to 1."""
        self._store = store
        self._clock = clock
        self._wait = wait
        self._chance = chance
        self._waiting: queue.SimpleQueue[_Waiting[_State]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._writing = False
        self._contended_until = float("-inf")
        self._last: Stored[_State] | None = None
        """The last written state. It is usually still current, so that a change needs no read."""

    def change(self, change: Change[_State, _Result], *, within: float) -> "Future[_Result]":
        """Makes a change; the future has its result after the change is written.

        It is tried again while the API server is busy or fails. The future raises ClusterError where the change cannot
        be written `within` these seconds. The change may still
        have been written, because an answer can be lost. So it must be safe to make the change twice.
        """
        result: Future[_Result] = Future()
        self._waiting.put(_Waiting(change=change, until=self._clock() + within, result=result))
        with self._lock:
            if not self._writing:
                threading.Thread(target=self._write_all, name="quota account", daemon=True).start()
                self._writing = True
        return result

    def _write_all(self) -> None:
        while True:
            together: list[_Waiting[_State]] = []
            self._add_waiting(together)
            if not together:
                with self._lock:
                    if self._waiting.empty():
                        self._writing = False
                        return
                continue
            try:
                self._write(together)
            except Exception as error:  # noqa: BLE001 - the callers must learn of it, and later changes must not wait
                self._last = None
                for each in together:
                    _fail(each, error)

    def _add_waiting(self, together: list[_Waiting[_State]]) -> None:
        while len(together) < MOST_TOGETHER:
            try:
                together.append(self._waiting.get_nowait())
            except queue.Empty:
                return

    def _write(self, together: list[_Waiting[_State]]) -> None:
        conflicts, trouble = 0, None
        troubles = Backoff(first=_FIRST_RETRY, ceiling=_LONGEST_RETRY, chance=self._chance)
        while conflicts < ATTEMPTS:
            # Changes that came during a lost attempt join the next attempt: they would otherwise wait for their own
            # write.
            self._add_waiting(together)
            self._drop_late(together, trouble)
            if not together:
                return
            try:
                if self._attempt(together):
                    return
            except errors.UnavailableError as error:
                # An ambiguous write is read again: the change finds what it has written.
                self._last, trouble = None, error
                self._wait(troubles.next())
                continue
            longest = min(_FIRST_WAIT * 2 ** (conflicts // 4), _LONGEST_WAIT)
            conflicts += 1
            self._wait(_SHORTEST_WAIT + (longest - _SHORTEST_WAIT) * self._chance())
        for each in together:
            _fail(each, errors.ClusterError(f"other replicas wrote the quota first, {ATTEMPTS} times in a row"))

    def _attempt(self, together: list[_Waiting[_State]]) -> bool:
        """Makes the changes and answers them; False if another replica wrote first."""
        if self._last is not None:
            stored, (state, outcomes) = self._last, _changed(together, self._last.state)
            if state != stored.state:
                return self._commit(together, Stored(state=state, version=stored.version), outcomes)
            # A result without a write may be a refusal, and a refusal must use a fresh read.
            self._last = None
        stored = self._store.read()
        # The reviews of late changes have been answered meanwhile.
        self._drop_late(together, None)
        state, outcomes = _changed(together, stored.state)
        if state != stored.state:
            return self._commit(together, Stored(state=state, version=stored.version), outcomes)
        self._last = stored
        _answer(together, outcomes)
        return True

    def _commit(
        self, together: Sequence[_Waiting[_State]], changed: Stored[_State], outcomes: Sequence["_Outcome"]
    ) -> bool:
        began = self._clock()
        self._last = self._store.write(changed)
        now = self._clock()
        if self._last is None:
            self._contended_until = now + _CONTENDED
            return False
        _answer(together, outcomes)
        if now < self._contended_until:
            self._wait(min(_PAUSE * (now - began), _LONGEST_WAIT) * (0.5 + self._chance()))
        return True

    def _drop_late(self, together: list[_Waiting[_State]], trouble: errors.ClusterError | None) -> None:
        """Fails the changes whose time is over, with the trouble that the API server had."""
        now = self._clock()
        for each in together:
            if now > each.until:
                _fail(each, trouble or errors.ClusterError("the quota could not be charged in time"))
        together[:] = [each for each in together if now <= each.until]


class Accounts:
    """The accounts of all quotas, for one process; each other replica has its own."""

    def __init__(
        self,
        api: Api,
        knowledge: Callable[[], Knowledge],
        *,
        namespace: str,
        meter: Meter = NO_METER,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Takes the parts that it works with.

        Args:
            namespace: the namespace of accounts.
            clock: seconds since 1970.
        """
        self._api = api
        self._knowledge = knowledge
        self._namespace = namespace
        self._meter = meter
        self._clock = clock
        # A GPUQuota may share its name with a quota of usher.yaml, so the keys have the kind.
        self._writers: dict[str, AccountWriter[Account]] = {}
        self._stores: dict[str, AccountStore[Account]] = {}

    def writer(self, quota: Quota) -> AccountWriter[Account]:
        return self._writers.setdefault(str(quota), AccountWriter(self.store(quota)))

    def store(self, quota: Quota) -> AccountStore[Account]:
        return self._stores.setdefault(str(quota), self._store(quota))

    def _store(self, quota: Quota) -> AccountStore[Account]:
        namespace, meter, clock = self._namespace, self._meter, self._clock
        if not quota.declared:
            return StatusStore(self._api, quota.name, namespace=namespace, meter=meter, clock=clock)
        name = quota.name
        return ConfigMapStore(self._api, lambda: self._declared(name), namespace=namespace, meter=meter, clock=clock)

    def forget_others(self, quotas: Iterable[Quota]) -> None:
        """Keeps only the writers and stores of these quotas."""
        kept = set(map(str, quotas))
        for name in self._stores.keys() - kept:
            self._writers.pop(name, None)
            self._stores.pop(name, None)

    def _declared(self, name: str) -> Quota:
        """The current declaration of a quota of usher.yaml."""
        for entry in self._knowledge().config.quotas:
            if entry.name == name:
                return gpu_quota_definitions.of_entry(entry)
        raise errors.ClusterError(f"quota {name} is not in usher.yaml any more")


_Outcome = tuple[Any, Exception | None]


def _changed(together: Sequence[_Waiting[_State]], state: _State) -> tuple[_State, list[_Outcome]]:
    """The state after all changes, one after the other. A change that raises an error changes nothing."""
    outcomes: list[_Outcome] = []
    for each in together:
        try:
            state, result = each.change(state)
            outcomes.append((result, None))
        except Exception as error:  # noqa: BLE001 - a wrong change must not undo the others
            outcomes.append((None, error))
    return state, outcomes


def _answer(together: Sequence[_Waiting[_State]], outcomes: Sequence[_Outcome]) -> None:
    for each, (result, error) in zip(together, outcomes, strict=True):
        if error is not None:
            _fail(each, error)
        elif not each.result.done():
            each.result.set_result(result)


def _fail(waiting: _Waiting[_State], error: Exception) -> None:
    if not waiting.result.done():
        waiting.result.set_exception(error)
