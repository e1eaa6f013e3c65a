"""Reads and writes the accounts of quotas in an API server: heads, and the parts of large accounts.

The head of an account is written only if no other replica wrote it since it was read. A GPUQuota has it in its status.
A quota of usher.yaml has it, in the same format, in a ConfigMap in a namespace for accounts alone. There are also the
parts of large accounts; they never change, so the head alone decides which write came first.

A part is created before the head names it, and never changes. It is made for one version of the head: if another
replica writes the head first, the part is never used, and a new attempt makes new parts. So a crash between the two
writes leaves the account as it was (see `accounts`).

A head is what one compare-and-swap replaces. A small account is all in its head; a large one has parts.

An account that was never written, or that lost a part, is *counting*: it has no room for a charge until a replica has
charged what exists (see `service`).
"""

import contextlib
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson
import structlog
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import entries as gpu_quota_entries
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import EntryChanges, EntryLayers, MalformedError, PartContent, PartReference
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live import holdings
from usher.cluster import api as cluster_api
from usher.cluster.api import Answer, Lists


class ChargeResult(StrEnum):
    GRANTED = "granted"
    REFUSED = "refused"
    FORCED = "forced"
    """Charged beyond the limit, because the check only warns."""
    COVERED = "covered"
    """Charged before, or covered by the workload that owns it."""
    DRY_RUN = "dry_run"
    FULL = "full"
    """The account has no room for another entry."""
    FAILED = "failed"
    """The result is unknown: the API server did not answer in time."""
    COUNTING = "counting"
    """The result is unknown: usher still counts what exists."""


class Correction(StrEnum):
    """A correction of an account, or of the condition of a GPUQuota."""

    SETTLED = "settled"
    RELEASED = "released"
    ADOPTED = "adopted"
    CONDITION = "condition"


class Meter(Protocol):
    """Counts events."""

    def charged(self, result: ChargeResult, *, seconds: float) -> None: ...

    def conflicted(self) -> None:
        """Another replica wrote first."""
        ...

    def reconciled(self, action: Correction) -> None: ...


class _NoMeter:
    def charged(self, result: ChargeResult, *, seconds: float) -> None: ...

    def conflicted(self) -> None: ...

    def reconciled(self, action: Correction) -> None: ...


NO_METER: Final[Meter] = _NoMeter()


class Api(Lists, Protocol):
    """An API with write access. Each method raises ClusterError without an answer."""

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT request, with any status."""
        ...

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST request, with any status."""
        ...

    def delete(self, path: str, value: paths.Object) -> Answer:
        """The answer to a DELETE request with DeleteOptions, with any status."""
        ...


PART_NAME_PREFIX: Final = "gpu-usher-charges-"
"""The start of the name of a part."""

PART_KEY: Final = "charges.json"
"""The field of `data` with the content of a part."""

ACCOUNT_LABEL: Final = "gpu-usher.io/account"
"""The label of all parts: a digest of the uid of the object with the head."""

WRITTEN_AGAINST: Final = "gpu-usher.io/written-against"
"""The label with the version of the head for which a part was made."""

_PART_PAUSE: Final = 15.0
"""Seconds until parts are tried again after they could not be written."""


class MissingPartError(errors.ClusterError):
    """A part does not exist: a later version of the head may not name it any more."""


class AllEntries(Struct, frozen=True, kw_only=True):
    """The entries of all parts."""

    names: tuple[str, ...] = ()
    ledger: Ledger = gpu_quota_ledger.EMPTY
    unread: int = 0
    """How many entries cannot be read."""


class PartStore:
    """The parts of one account. It keeps what it has read, because parts never change."""

    def __init__(self, api: Api, *, namespace: str, clock: Callable[[], float] = time.time) -> None:
        """Takes the API server, the namespace of accounts, and a clock in seconds since 1970."""
        self._api = api
        self._namespace = namespace
        self._clock = clock
        self._contents: dict[str, PartContent] = {}
        self._all_entries = AllEntries()
        self._paused_until = 0.0
        self._lock = threading.Lock()

    def read(self, parts: Sequence[PartReference]) -> AllEntries:
        """The entries of all parts.

        Raises:
            MissingPartError: a part does not exist.
            ClusterError: a part cannot be read.
        """
        names = tuple(part.name for part in parts)
        with self._lock:
            if self._all_entries.names == names:
                return self._all_entries
            known, before = self._contents, self._all_entries
        contents = {name: known[name] if name in known else self._read(name) for name in names}
        grown = bool(before.names) and names[: len(before.names)] == before.names
        entries = dict(before.ledger.entries.base) if grown else {}
        for name in names[len(before.names) :] if grown else names:
            gpu_quota_entries.apply_content(entries, contents[name])
        unread = sum(len(content.unread) for content in contents.values())
        all_entries = AllEntries(names=names, ledger=gpu_quota_ledger.in_parts(entries), unread=unread)
        self._keep(all_entries, contents)
        return all_entries

    def spread(
        self, ledger: Ledger, parts: Sequence[PartReference], *, owner: paths.Object, version: str
    ) -> tuple[Ledger, tuple[PartReference, ...]]:
        """The ledger without changes in the head, after its changes were written as parts.

        If the head has few changes, or the parts cannot be written, ledger and parts stay as they are: then the head
        keeps the changes.

        Args:
            parts: the parts that exist.
            owner: the reference to the object with the head; Kubernetes deletes the parts with it.
            version: the version of the head that the next write replaces.
        """
        changes: EntryChanges = ledger.entries.changes if parts else dict(ledger.entries)
        if len(changes) <= gpu_quota_entries.MOST_CHANGES or self._clock() < self._paused_until:
            return ledger, tuple(parts)
        first = gpu_quota_entries.first_part_to_merge(parts, changes=len(changes), live=len(ledger.entries))
        try:
            self.read(parts)
            before = [self._contents[part.name] for part in parts]
            new = gpu_quota_entries.merge_contents(before[first:], changes, all_of_them=first == 0)
            contents = {self._create(each, owner, version): each for each in gpu_quota_entries.split_content(new)}
        except errors.ClusterError as error:
            self._paused_until = self._clock() + _PART_PAUSE
            structlog.get_logger().warning("quota_account_not_spread", quota=owner.get("name"), reason=str(error))
            return ledger, tuple(parts)
        made = tuple(PartReference(name=name, changes=len(each.changes)) for name, each in contents.items())
        after = (*parts[:first], *made)
        kept = {part.name: before[index] for index, part in enumerate(parts[:first])}
        spread = replace(ledger, entries=EntryLayers(dict(ledger.entries)), size=0, in_parts=True)
        everything = {**kept, **contents}
        unread = sum(len(content.unread) for content in everything.values())
        self._keep(AllEntries(names=tuple(everything), ledger=spread, unread=unread), everything)
        return spread, after

    def _keep(self, all_entries: AllEntries, contents: dict[str, PartContent]) -> None:
        with self._lock:
            self._all_entries, self._contents = all_entries, contents

    def _read(self, name: str) -> PartContent:
        path = f"{config_maps_path(self._namespace)}/{name}"
        answer = self._api.get(path)
        if answer.status == 404:
            raise MissingPartError(f"{path} is missing, and with it charges of a quota")
        if answer.status != 200:
            raise cluster_api.failure(answer, f"{path} cannot be read")
        data = answer.value.get("data")
        try:
            return gpu_quota_entries.decode_content(data.get(PART_KEY) if isinstance(data, dict) else None)
        except MalformedError as error:
            raise errors.ClusterError(f"{path} cannot be read: {error}") from None

    def _create(self, content: PartContent, owner: paths.Object, version: str) -> str:
        account = account_digest(str(owner["uid"]))
        name = f"{PART_NAME_PREFIX}{account}-{secrets.token_hex(8)}"
        metadata: dict[str, Any] = {
            "name": name,
            "namespace": self._namespace,
            "labels": {ACCOUNT_LABEL: account, WRITTEN_AGAINST: version},
            "ownerReferences": [owner],
        }
        value: paths.Object = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "immutable": True,
            "data": {PART_KEY: gpu_quota_entries.encode_content(content)},
        }
        path = config_maps_path(self._namespace)
        answer = self._api.post(path, value)
        if answer.status not in (200, 201):
            raise cluster_api.failure(answer, f"{path}/{name} cannot be created")
        return name


def config_maps_path(namespace: str) -> str:
    """The path of the ConfigMaps of a namespace."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


def account_digest(uid: str) -> str:
    """The account of an object, as a label."""
    return hashlib.sha256(uid.encode()).hexdigest()[:16]


UPGRADE: Final = 600
"""Seconds before an account of an earlier gpu-usher gets parts: replicas of that version cannot read parts, and a
rolling upgrade must end before."""


class Account(Struct, frozen=True, kw_only=True):
    """A quota with its charges."""

    quota: Quota
    ledger: Ledger
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries of the head. They stay until an administrator removes them."""
    unread_in_parts: int = 0
    """The number of unreadable entries in parts."""
    parts: tuple[PartReference, ...] = ()
    """The parts of the account; `ledger` has the entries of all of them."""
    parts_from: int | None = None
    """From when on the account may have parts, in seconds since 1970; None where the store does not keep this."""
    counting: bool = False
    """Whether usher has not charged everything yet that exists."""

    def charged(self, ledger: Ledger) -> "Account":
        """The account with other charges."""
        return replace(self, ledger=ledger)


class Heads:
    """Makes accounts of heads, and heads of accounts."""

    def __init__(self, api: Api, *, namespace: str, clock: Callable[[], float]) -> None:
        """Takes the API server, the namespace of parts, and a clock in seconds since 1970."""
        self._parts = PartStore(api, namespace=namespace, clock=clock)
        self._clock = clock

    def account(self, quota: Quota, head: paths.Json, *, without_lost_parts: bool = False) -> Account:
        """The account of a head.

        Args:
            without_lost_parts: whether a missing part is lost. Then the account has the entries of the head, and is
                counted again.

        Raises:
            MissingPartError: a part is missing; a later head may have others.
            ClusterError: the account cannot be read.
        """
        found = gpu_quota_status.decode(head)
        if not found.writable:
            raise errors.ClusterError(f"{quota} cannot be charged: {found.problems[0][1]}")
        account = Account(
            quota=quota,
            ledger=found.ledger,
            unread=found.unread,
            parts=found.parts,
            parts_from=found.parts_from,
            counting=found.counting,
        )
        if not found.parts:
            in_parts = self._may_have_parts(found.parts_from)
            return account.charged(replace(found.ledger, in_parts=True, size=0)) if in_parts else account
        try:
            of_parts = self._parts.read(found.parts)
        except MissingPartError:
            if not without_lost_parts:
                raise
            return replace(
                account, ledger=gpu_quota_ledger.in_parts(dict(found.ledger.entries)), parts=(), counting=True
            )
        changes: EntryChanges = {**dict.fromkeys(found.removed), **found.ledger.entries.base}
        ledger = gpu_quota_ledger.changed(of_parts.ledger, changes)
        return replace(account, ledger=ledger, unread_in_parts=of_parts.unread)

    def spread(self, account: Account, value: paths.Object) -> Account:
        """The account whose changes have moved to parts, if it has many changes and may have parts."""
        if not account.parts and not self._may_have_parts(account.parts_from):
            return account
        owner: paths.Object = {
            "apiVersion": value.get("apiVersion"),
            "kind": value.get("kind"),
            "name": holdings.metadata_text(value, "name"),
            "uid": holdings.metadata_text(value, "uid"),
        }
        version = holdings.metadata_text(value, "resourceVersion")
        ledger, parts = self._parts.spread(account.ledger, account.parts, owner=owner, version=version)
        return replace(account, ledger=ledger, parts=parts)

    def encoded(self, account: Account, before: paths.Json) -> paths.Object:
        """The head of an account.

        Args:
            before: the head that it replaces. If it has charges, an earlier gpu-usher may still write it.
        """
        parts_from = account.parts_from
        if parts_from is None:
            is_old = isinstance(before, dict) and bool(before.get("charges"))
            parts_from = int(self._clock()) + (UPGRADE if is_old else 0)
        return gpu_quota_status.encode(
            account.ledger,
            account.quota.limits,
            unread=account.unread,
            parts=account.parts,
            parts_from=parts_from,
            counting=account.counting,
        )

    def _may_have_parts(self, parts_from: int | None) -> bool:
        return parts_from is not None and self._clock() >= parts_from


QUOTAS_PATH: Final = "/apis/gpu-usher.io/v1alpha1/gpuquotas"

ACCOUNT_NAME_PREFIX: Final = "gpu-usher-quota-"
"""The start of the name of a ConfigMap with an account; the name of the quota follows."""

ACCOUNT_KEY: Final = "account.json"
"""The field of `data` with the account in a ConfigMap."""

_FIELDS: Final = frozenset(gpu_quota_status.FIELDS)

_READS: Final = 5
"""How often an account is read until all of its parts are there. After that a missing part is lost: no later head
replaced the one that names it. If one did all the same, a write against the earlier head fails."""

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409

_State = TypeVar("_State")


class Stored(Struct, Generic[_State], frozen=True, kw_only=True):
    """A state in the version in which it was read or written."""

    state: _State
    version: Any
    """The version for the next write; only the store reads it."""


def is_later(value: paths.Object, other: paths.Object) -> bool:
    """Whether an object was written after another version of it; False unless both versions are numbers."""
    ours, others = (cluster_api.resource_version(each) for each in (value, other))
    return ours.isdecimal() and others.isdecimal() and (len(ours), ours) > (len(others), others)


class AccountStore(Protocol[_State]):
    """Keeps one account."""

    def read(self) -> Stored[_State]:
        """The account as it is now. Raises ClusterError where it cannot be read or does not exist."""
        ...

    def write(self, stored: Stored[_State]) -> Stored[_State] | None:
        """Writes an account; None where another replica wrote it since it was read. Raises ClusterError."""
        ...


class StatusStore:
    """The account of a GPUQuota: its head in the status, its parts in the namespace of accounts."""

    def __init__(
        self, api: Api, name: str, *, namespace: str, meter: Meter = NO_METER, clock: Callable[[], float] = time.time
    ) -> None:
        """Takes the API server, the name of the GPUQuota, the namespace of parts, a meter of conflicts, and a clock."""
        self._api = api
        self._meter = meter
        self._path = f"{QUOTAS_PATH}/{name}"
        self._heads = Heads(api, namespace=namespace, clock=clock)
        self._watched: Stored[Account] | None = None

    def watched(self, value: paths.Object) -> Stored[Account]:
        """The account of the GPUQuota as a watch has shown it. Only parts that were never read are read.

        Raises:
            ClusterError: the account cannot be read.
        """
        watched = self._watched
        if watched is None or watched.version is not value:
            watched = self._watched = Stored(state=self._account(value), version=value)
        return watched

    def read(self) -> Stored[Account]:
        """The account in etcd. The request has no resource version, so the API server does not answer from a cache.

        Raises:
            ClusterError: the GPUQuota does not exist, or cannot be read.
        """
        return _read_complete(self._read)

    def _read(self, *, without_lost_parts: bool) -> Stored[Account]:
        answer = self._api.get(self._path)
        if answer.status != 200:
            raise cluster_api.failure(answer, f"{self._path} cannot be read")
        account = self._account(answer.value, without_lost_parts=without_lost_parts)
        return Stored(state=account, version=answer.value)

    def _account(self, value: paths.Object, *, without_lost_parts: bool = False) -> Account:
        quota = gpu_quota_definitions.of_object(value)
        if isinstance(quota, gpu_quota_definitions.Malformed):
            pointer, reason = quota.problems[0]
            raise errors.ClusterError(f"{quota} cannot be read: {pointer}: {reason}")
        return self._heads.account(quota, value.get("status"), without_lost_parts=without_lost_parts)

    def write(self, stored: Stored[Account]) -> Stored[Account] | None:
        """Writes the account; None where the object was written since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        value, account = stored.version, self._heads.spread(stored.state, stored.version)
        before = value.get("status")
        kept = {key: each for key, each in before.items() if key not in _FIELDS} if isinstance(before, dict) else {}
        new = {**kept, **self._heads.encoded(account, before)}
        answer = self._api.put(f"{self._path}/status", {**value, "status": new})
        if answer.status == _CONFLICT:
            self._meter.conflicted()
            return None
        if answer.status != 200:
            raise cluster_api.failure(answer, f"{self._path}/status cannot be written")
        return _written_account(account, answer.value, answer.value.get("status"))


class ConfigMapStore:
    """The account of a quota of usher.yaml: its head in a ConfigMap, its parts beside it."""

    def __init__(
        self,
        api: Api,
        quota: Callable[[], Quota],
        *,
        namespace: str,
        meter: Meter = NO_METER,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Takes a function that gives the declared quota, the namespace of the ConfigMap, a meter, and a clock."""
        self._api = api
        self._meter = meter
        self._quota = quota
        self._namespace = namespace
        self._heads = Heads(api, namespace=namespace, clock=clock)

    def read(self) -> Stored[Account]:
        """The account in etcd; empty where no replica has charged the quota yet.

        Raises:
            ClusterError: it cannot be read.
        """
        return _read_complete(self._read)

    def _read(self, *, without_lost_parts: bool) -> Stored[Account]:
        quota = self._quota()
        path = config_map_path(self._namespace, quota.name)
        answer = self._api.get(path)
        if answer.status == _NOT_FOUND:
            return Stored(state=Account(quota=quota, ledger=gpu_quota_ledger.EMPTY, counting=True), version=None)
        if answer.status != 200:
            raise cluster_api.failure(answer, f"{path} cannot be read")
        account = self._heads.account(quota, _head(answer.value), without_lost_parts=without_lost_parts)
        return Stored(state=account, version=answer.value)

    def write(self, stored: Stored[Account]) -> Stored[Account] | None:
        """Writes the account; None where another replica wrote or deleted it since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        account, before = stored.state, stored.version
        path = config_map_path(self._namespace, account.quota.name)
        if before is None:
            metadata: paths.Object = {
                "name": f"{ACCOUNT_NAME_PREFIX}{account.quota.name}",
                "namespace": self._namespace,
            }
            new: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            answer = self._api.post(path.rpartition("/")[0], {**new, "data": self._data(account, None)})
        else:
            account = self._heads.spread(account, before)
            answer = self._api.put(path, {**before, "data": self._data(account, _head(before))})
        if answer.status == _CONFLICT or (answer.status == _NOT_FOUND and before is not None):
            self._meter.conflicted()
            return None
        if answer.status not in (200, 201):
            raise cluster_api.failure(answer, f"{path} cannot be written")
        return _written_account(account, answer.value, _head(answer.value))

    def _data(self, account: Account, before: paths.Json) -> paths.Object:
        return {ACCOUNT_KEY: orjson.dumps(self._heads.encoded(account, before)).decode()}


def config_map_path(namespace: str, quota: str) -> str:
    """The path of the ConfigMap with the account of a quota of usher.yaml."""
    return f"{config_maps_path(namespace)}/{ACCOUNT_NAME_PREFIX}{quota}"


class _Read(Protocol):
    def __call__(self, *, without_lost_parts: bool) -> Stored[Account]: ...


def _read_complete(read: _Read) -> Stored[Account]:
    """An account with all of its parts. A part may be deleted while it is read, because a later head has others."""
    for _ in range(_READS - 1):
        with contextlib.suppress(MissingPartError):
            return read(without_lost_parts=False)
    return read(without_lost_parts=True)


def _written_account(account: Account, value: paths.Object, head: paths.Json) -> Stored[Account]:
    """The written account. An API server with an earlier definition of GPUQuota drops fields that it does not know."""
    kept, counting = gpu_quota_status.parts_from(head), gpu_quota_status.is_counting(head)
    return Stored(state=replace(account, parts_from=kept, counting=counting), version=value)


def _head(value: paths.Object) -> paths.Json:
    data = value.get("data")
    text = data.get(ACCOUNT_KEY) if isinstance(data, dict) else None
    try:
        found: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        name = holdings.metadata_text(value, "name")
        raise errors.ClusterError(f"ConfigMap {name}: {ACCOUNT_KEY} is not JSON") from None
    return found
