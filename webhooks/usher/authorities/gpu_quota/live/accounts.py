"""One writer for the account of each quota, and the end of accounts and parts of accounts that nothing uses any more.

This process changes accounts only through these writers. A writer makes a change to the account that the API server
holds, and writes it only if no other replica wrote since (compare-and-swap on the resource version); otherwise it makes
the change again. So replicas need no leader and no lock. Changes that wait at the same time are written together: a
burst of jobs costs a few writes.

A part was made for one version of a head. If the head has another version now and does not name the part, no write can
name it any more: the write for which it was made can only replace that version. So the part can be deleted at once,
also while replicas write.

Replicas get a new usher.yaml at different times. So an account that usher.yaml no longer declares is deleted only if no
replica has written it for as long as a reservation lasts, and only in the version that was last seen.
"""

import queue
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

import orjson
import structlog
from msgspec import Struct

from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live import account_store, holdings
from usher.authorities.knowledge import Knowledge
from usher.cluster.api import NAMES
from usher.cluster.http_clients import Backoff
from usher.kinds.reading.values import Absence, Reference

MOST_TOGETHER: Final = 256
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
"""The first and the longest wait in seconds after the API server was busy or failed. A review waits 2.4 in all."""

_PAUSE: Final = 4.0
"""After each write a writer leaves time for others: so many times as long as the write took. A writer that has just
written knows the current state first, so it would come first again and again; changes that wait meanwhile are written
together."""

_PAUSE_ALONE: Final = 1.5
"""The same where no other replica seems to write. It is not 0: a replica that always comes second cannot be seen."""

_LONGEST_PAUSE: Final = 0.5
"""The longest of that time in seconds: an API server that is slow needs long for the writes of others too."""

_CONTENDED: Final = 5.0
"""Seconds for which another replica that wrote seems to write."""

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
        store: account_store.AccountStore[_State],
        *,
        later: Callable[[account_store.Stored[_State]], account_store.Stored[_State] | None] = lambda _known: None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Takes the parts that it works with.

        Args:
            store: of the account.
            later: gives a later state than another one where a watch has shown it. It need not be current.
            clock: seconds.
            wait: sleeps for seconds.
            chance: gives random numbers from 0 to 1.
        """
        self._store = store
        self._later = later
        self._clock = clock
        self._wait = wait
        self._chance = chance
        self._waiting: queue.SimpleQueue[_Waiting[_State]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._writing = False
        self._contended_until = float("-inf")
        self._last: account_store.Stored[_State] | None = None
        """The last written state. It is usually still current, so that a change needs no read."""
        self._known: account_store.Stored[_State] | None = None
        """The latest state that was read, written or shown by a watch. Another replica may have replaced it."""

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
            _fail(each, errors.UnavailableError(f"other replicas wrote the quota first, {ATTEMPTS} times in a row"))

    def _attempt(self, together: list[_Waiting[_State]]) -> bool:
        """Makes the changes and answers them; False if another replica wrote first."""
        if (stored := self._assumed()) is not None:
            state, outcomes = _changed(together, stored.state)
            if state != stored.state:
                return self._commit(together, account_store.Stored(state=state, version=stored.version), outcomes)
            # A result without a write may be a refusal, and a refusal must use a fresh read.
            self._last = None
        stored = self._known = self._store.read()
        # The reviews of late changes have been answered meanwhile.
        self._drop_late(together, None)
        state, outcomes = _changed(together, stored.state)
        if state != stored.state:
            return self._commit(together, account_store.Stored(state=state, version=stored.version), outcomes)
        self._last = stored
        _answer(together, outcomes)
        return True

    def _assumed(self) -> account_store.Stored[_State] | None:
        """The state that is probably current; None where it must be read. A write against a replaced state conflicts.

        After a conflict the state of a watch saves a read: a writer that reads and writes would come second to a writer
        that only writes, again and again.
        """
        later = None if self._known is None else self._later(self._known)
        if later is not None:
            self._known = self._last = later
            self._contended_until = self._clock() + _CONTENDED
        return self._last

    def _commit(
        self,
        together: Sequence[_Waiting[_State]],
        changed: account_store.Stored[_State],
        outcomes: Sequence["_Outcome"],
    ) -> bool:
        began = self._clock()
        self._last = self._store.write(changed)
        self._known = self._last or changed
        now = self._clock()
        if self._last is None:
            self._contended_until = now + _CONTENDED
            return False
        _answer(together, outcomes)
        pause = _PAUSE if now < self._contended_until else _PAUSE_ALONE
        self._wait(min(pause * (now - began), _LONGEST_PAUSE) * (0.5 + self._chance()))
        return True

    def _drop_late(self, together: list[_Waiting[_State]], trouble: errors.ClusterError | None) -> None:
        """Fails the changes whose time is over, with the trouble that the API server had."""
        now = self._clock()
        for each in together:
            if now > each.until:
                _fail(each, trouble or errors.UnavailableError("the quota could not be charged in time"))
        together[:] = [each for each in together if now <= each.until]


class Accounts:
    """The accounts of all quotas, for one process; each other replica has its own."""

    def __init__(
        self,
        api: account_store.Api,
        knowledge: Callable[[], Knowledge],
        *,
        namespace: str,
        meter: account_store.Meter = account_store.NO_METER,
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
        self._writers: dict[str, AccountWriter[account_store.Account]] = {}
        self._stores: dict[str, account_store.AccountStore[account_store.Account]] = {}

    def writer(self, quota: Quota) -> AccountWriter[account_store.Account]:
        found = self._writers.get(str(quota))
        if found is None:
            found = AccountWriter(self.store(quota), later=lambda known: self._later(quota, known))
        return self._writers.setdefault(str(quota), found)

    def store(self, quota: Quota) -> account_store.AccountStore[account_store.Account]:
        return self._stores.setdefault(str(quota), self._store(quota))

    def watched(self, quota: Quota) -> account_store.Account | None:
        """The account as the watch of GPUQuotas has shown it last; None where it must be read."""
        known = self._knowledge()
        value = None if known.facts.age() > known.config.facts.bound else self._shown(quota)
        found = None if value is None else self._account_of(quota, value)
        return None if found is None else found.state

    def _later(
        self, quota: Quota, known: account_store.Stored[account_store.Account]
    ) -> account_store.Stored[account_store.Account] | None:
        """The account as the watch has shown it last, if that is later than a known state."""
        value = self._shown(quota)
        return self._account_of(quota, value) if value and account_store.is_later(value, known.version) else None

    def _shown(self, quota: Quota) -> paths.Object | None:
        """The object of a GPUQuota that the watch has shown last."""
        if quota.declared:
            return None
        found = self._knowledge().facts.find(
            Reference(group=gpu_quota_definitions.GROUP, kind=gpu_quota_definitions.KIND, name=quota.name, namespace="")
        )
        return None if isinstance(found, Absence) else found

    def _account_of(self, quota: Quota, value: paths.Object) -> account_store.Stored[account_store.Account] | None:
        store = self.store(quota)
        try:
            return store.watched(value) if isinstance(store, account_store.StatusStore) else None
        except errors.ClusterError:
            return None

    def _store(self, quota: Quota) -> account_store.AccountStore[account_store.Account]:
        namespace, meter, clock = self._namespace, self._meter, self._clock
        if not quota.declared:
            return account_store.StatusStore(self._api, quota.name, namespace=namespace, meter=meter, clock=clock)
        name = quota.name
        return account_store.ConfigMapStore(
            self._api, lambda: self._declared(name), namespace=namespace, meter=meter, clock=clock
        )

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


_OLDEST: Final = 10.0
"""Seconds until the names of ConfigMaps are listed again."""

_MOST: Final = 500
"""ConfigMaps that are looked at; usher.yaml declares far fewer quotas."""


class UndeclaredAccounts:
    """Remembers when each undeclared account last changed."""

    def __init__(
        self, api: account_store.Api, knowledge: Callable[[], Knowledge], *, namespace: str, clock: Callable[[], float]
    ) -> None:
        """Takes the API server, a function that gives the knowledge, the namespace of accounts, a clock in seconds."""
        self._api = api
        self._knowledge = knowledge
        self._namespace = namespace
        self._clock = clock
        self._listed: tuple[list[str], float] | None = None
        """The names of ConfigMaps in the namespace, and the time of the list."""
        self._unchanged: dict[str, tuple[str, float]] = {}
        """The resource version of an account and the time when it was first seen, by the name of the quota."""
        self._logged = ""

    def delete(self) -> int:
        """Deletes accounts that have not changed for long enough. Returns how many; a failure is logged once."""
        deleted, unchanged, problem = 0, dict[str, tuple[str, float]](), ""
        try:
            undeclared = list(self._undeclared())
        except errors.ClusterError:
            # Only time is lost. A server without the right to list accounts cannot charge them either, which is logged.
            return 0
        for name in undeclared:
            try:
                seen = self._version_and_age(name)
                if seen is not None:
                    unchanged[name] = seen
                    deleted += self._is_over(seen) and self._delete(name, seen[0])
            except errors.ClusterError as error:
                problem = str(error)
        self._unchanged = unchanged
        if problem not in ("", self._logged):
            structlog.get_logger().warning("quota_account_not_deleted", reason=problem)
        self._logged = problem
        return deleted

    def _undeclared(self) -> Iterator[str]:
        """The names of undeclared quotas with an account."""
        known = self._knowledge()
        found = known.facts.objects("", "ConfigMap", self._namespace)
        declared = {entry.name for entry in known.config.quotas}
        # The server needs no right to list the ConfigMaps of other namespaces; most sites do not give it one.
        for config_map in self._names() if isinstance(found, Absence) else sorted(found):
            name = config_map.removeprefix(account_store.ACCOUNT_NAME_PREFIX)
            if name not in (config_map, *declared):
                yield name

    def _names(self) -> list[str]:
        """The names of the ConfigMaps in the namespace, at most some seconds old."""
        if self._listed is not None and 0 <= self._clock() - self._listed[1] < _OLDEST:
            return self._listed[0]
        path = f"/api/v1/namespaces/{self._namespace}/configmaps"
        query = {"limit": str(_MOST), "labelSelector": f"!{account_store.ACCOUNT_LABEL}"}
        answer = self._api.get(path, query=query, accept=NAMES)
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be listed: {answer.message}")
        items = answer.value.get("items")
        found = (
            [holdings.metadata_text(each, "name") for each in items if isinstance(each, dict)]
            if isinstance(items, list)
            else []
        )
        self._listed = sorted(filter(None, found)), self._clock()
        return self._listed[0]

    def _version_and_age(self, name: str) -> tuple[str, float] | None:
        """The version of an account and when it was first seen; None without the ConfigMap or its account."""
        path = account_store.config_map_path(self._namespace, name)
        answer = self._api.get(path)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        data, version = answer.value.get("data"), holdings.metadata_text(answer.value, "resourceVersion")
        if not isinstance(data, dict) or account_store.ACCOUNT_KEY not in data:
            return None
        before = self._unchanged.get(name)
        return before if before is not None and before[0] == version else (version, self._clock())

    def _is_over(self, seen: tuple[str, float]) -> bool:
        return self._clock() - seen[1] > self._knowledge().config.facts.reservation

    def _delete(self, name: str, version: str) -> bool:
        path = account_store.config_map_path(self._namespace, name)
        preconditions: paths.Object = {"resourceVersion": version}
        options: paths.Object = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
        answer = self._api.delete(path, options)
        if answer.status in (404, 409):
            return False
        if answer.status not in (200, 202):
            raise errors.ClusterError(f"{path} cannot be deleted: {answer.message}")
        structlog.get_logger().info("quota_account_deleted", quota=name)
        return True


_PAGE: Final = 500
_MOST_PAGES: Final = 20
"""10,000 parts in one look; a look deletes most of them."""

_Owner = tuple[str, str, str]
"""Kind, name and uid of the object with the head."""


class UnusedParts:
    """Compares the parts in the namespace of accounts with the heads that they belong to."""

    def __init__(self, api: account_store.Api, *, namespace: str) -> None:
        """Takes the API server and the namespace of accounts."""
        self._api = api
        self._namespace = namespace
        self._logged = ""

    def delete(self) -> int:
        """Deletes unused parts. Returns how many; a failure is logged once and tried again at the next look."""
        deleted, problem = 0, ""
        try:
            # All parts are listed before any head is read: a part that is made later is not looked at.
            for owner, several in self._by_owner().items():
                deleted += sum(self._delete(part) for part in self._unused(owner, several))
        except errors.ClusterError as error:
            problem = str(error)
        if problem not in ("", self._logged):
            structlog.get_logger().warning("quota_parts_not_deleted", reason=problem)
        self._logged = problem
        return deleted

    def _by_owner(self) -> Mapping[_Owner, list[paths.Object]]:
        found: defaultdict[_Owner, list[paths.Object]] = defaultdict(list)
        for part in self._parts():
            owner = _owner_of_part(part)
            if owner is not None:
                found[owner].append(part)
        return found

    def _parts(self) -> Iterator[paths.Object]:
        path, following = account_store.config_maps_path(self._namespace), ""
        for _ in range(_MOST_PAGES):
            query = {"limit": str(_PAGE), "labelSelector": account_store.ACCOUNT_LABEL}
            if following:
                query["continue"] = following
            answer = self._api.get(path, query=query, accept=NAMES)
            if answer.status != 200:
                raise errors.ClusterError(f"{path} cannot be listed: {answer.message}")
            items = answer.value.get("items")
            yield from (each for each in items if isinstance(each, dict)) if isinstance(items, list) else ()
            following = holdings.metadata_text(answer.value, "continue")
            if not following:
                return

    def _unused(self, owner: _Owner, several: list[paths.Object]) -> list[paths.Object]:
        kind, name, uid = owner
        path = (
            f"{account_store.QUOTAS_PATH}/{name}"
            if kind == "GPUQuota"
            else f"{account_store.config_maps_path(self._namespace)}/{name}"
        )
        answer = self._api.get(path)
        if answer.status not in (200, 404):
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        if answer.status == 404 or holdings.metadata_text(answer.value, "uid") != uid:
            return several
        head = gpu_quota_status.decode(answer.value.get("status") if kind == "GPUQuota" else _data_of(answer.value))
        if not head.writable:
            return []
        named, version = {part.name for part in head.parts}, holdings.metadata_text(answer.value, "resourceVersion")
        return [
            part
            for part in several
            if holdings.metadata_text(part, "name") not in named
            and _label(part, account_store.WRITTEN_AGAINST) != version
        ]

    def _delete(self, part: paths.Object) -> bool:
        path = f"{account_store.config_maps_path(self._namespace)}/{holdings.metadata_text(part, 'name')}"
        preconditions: paths.Object = {"uid": holdings.metadata_text(part, "uid")}
        answer = self._api.delete(path, {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions})
        if answer.status in (404, 409):
            return False
        if answer.status not in (200, 202):
            raise errors.ClusterError(f"{path} cannot be deleted: {answer.message}")
        return True


def _owner_of_part(part: paths.Object) -> _Owner | None:
    """The object with the head; None for ConfigMaps that are not parts."""
    found = paths.resolve(part, "/metadata/ownerReferences/0") if _has_owner(part) else None
    if not isinstance(found, dict) or not holdings.metadata_text(part, "name").startswith(
        account_store.PART_NAME_PREFIX
    ):
        return None
    kind, name, uid = (found.get(key) for key in ("kind", "name", "uid"))
    if kind not in ("GPUQuota", "ConfigMap") or not isinstance(name, str) or not isinstance(uid, str) or "/" in name:
        return None
    return str(kind), name, uid


def _has_owner(part: paths.Object) -> bool:
    metadata = part.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("ownerReferences"))


def _label(part: paths.Object, name: str) -> str:
    metadata = part.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    found = labels.get(name) if isinstance(labels, dict) else None
    return found if isinstance(found, str) else ""


def _data_of(value: paths.Object) -> paths.Json:
    data = value.get("data")
    text = data.get(account_store.ACCOUNT_KEY) if isinstance(data, dict) else None
    try:
        found: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        return {"version": 0}
    return found
