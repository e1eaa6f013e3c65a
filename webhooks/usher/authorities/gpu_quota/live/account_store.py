"""Reads and writes the accounts of quotas in an API server.

The head of an account is written only if no other replica wrote it since it was read. A GPUQuota has it in its status.
A quota of usher.yaml has it, in the same format, in a ConfigMap in a namespace for accounts alone. There are also the
parts of large accounts; they never change, so the head alone decides which write came first.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson

from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live import object_metadata, part_store
from usher.authorities.gpu_quota.live.account_heads import Account, Heads
from usher.authorities.gpu_quota.live.metering import NO_METER, Meter
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.authorities.gpu_quota.live.part_store import MissingPartError
from usher.dataclass import dataclass

PATH: Final = "/apis/gpu-usher.io/v1alpha1/gpuquotas"

CONFIG_MAP: Final = "gpu-usher-quota-"
"""The start of the name of a ConfigMap with an account; the name of the quota follows."""

ACCOUNT_KEY: Final = "account.json"
"""The field of `data` with the account in a ConfigMap."""

_FIELDS: Final = frozenset(gpu_quota_status.FIELDS)

_READS: Final = 5
"""How often an account is read until all of its parts are there."""

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409

_State = TypeVar("_State")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Generic[_State]):
    """A state in the version in which it was read or written."""

    state: _State
    version: Any
    """The version for the next write; only the store reads it."""


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
        self._path = f"{PATH}/{name}"
        self._heads = Heads(api, namespace=namespace, clock=clock)

    def read(self) -> Stored[Account]:
        """The account in etcd. The request has no resource version, so the API server does not answer from a cache.

        Raises:
            ClusterError: the GPUQuota does not exist, or cannot be read.
        """
        return _complete(self._read)

    def _read(self) -> Stored[Account]:
        answer = self._api.get(self._path)
        if answer.status != 200:
            raise errors.ClusterError(f"{self._path} cannot be read: {answer.message}")
        quota = gpu_quota_definitions.of_object(answer.value)
        if isinstance(quota, gpu_quota_definitions.Malformed):
            pointer, reason = quota.problems[0]
            raise errors.ClusterError(f"{quota} cannot be read: {pointer}: {reason}")
        return Stored(state=self._heads.account(quota, answer.value.get("status")), version=answer.value)

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
            raise errors.ClusterError(f"{self._path}/status cannot be written: {answer.message}")
        return _written(account, answer.value, answer.value.get("status"))


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
        return _complete(self._read)

    def _read(self) -> Stored[Account]:
        quota = self._quota()
        path = config_map_path(self._namespace, quota.name)
        answer = self._api.get(path)
        if answer.status == _NOT_FOUND:
            return Stored(state=Account(quota=quota, ledger=gpu_quota_ledger.EMPTY), version=None)
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        return Stored(state=self._heads.account(quota, _head(answer.value)), version=answer.value)

    def write(self, stored: Stored[Account]) -> Stored[Account] | None:
        """Writes the account; None where another replica wrote or deleted it since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        account, before = stored.state, stored.version
        path = config_map_path(self._namespace, account.quota.name)
        if before is None:
            metadata: paths.Object = {"name": f"{CONFIG_MAP}{account.quota.name}", "namespace": self._namespace}
            new: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            answer = self._api.post(path.rpartition("/")[0], {**new, "data": self._data(account, None)})
        else:
            account = self._heads.spread(account, before)
            answer = self._api.put(path, {**before, "data": self._data(account, _head(before))})
        if answer.status == _CONFLICT or (answer.status == _NOT_FOUND and before is not None):
            self._meter.conflicted()
            return None
        if answer.status not in (200, 201):
            raise errors.ClusterError(f"{path} cannot be written: {answer.message}")
        return _written(account, answer.value, _head(answer.value))

    def _data(self, account: Account, before: paths.Json) -> paths.Object:
        return {ACCOUNT_KEY: orjson.dumps(self._heads.encoded(account, before)).decode()}


def config_map_path(namespace: str, quota: str) -> str:
    """The path of the ConfigMap with the account of a quota of usher.yaml."""
    return f"{part_store.config_maps(namespace)}/{CONFIG_MAP}{quota}"


def _complete(read: Callable[[], Stored[Account]]) -> Stored[Account]:
    """An account with all of its parts. A part may be deleted while it is read, because a later head has others."""
    for _ in range(_READS - 1):
        with contextlib.suppress(MissingPartError):
            return read()
    return read()


def _written(account: Account, value: paths.Object, head: paths.Json) -> Stored[Account]:
    """The written account. An API server with an earlier definition of GPUQuota drops fields that it does not know."""
    kept = gpu_quota_status.parts_from(head)
    return Stored(state=replace(account, parts_from=kept), version=value)


def _head(value: paths.Object) -> paths.Json:
    data = value.get("data")
    text = data.get(ACCOUNT_KEY) if isinstance(data, dict) else None
    try:
        found: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        name = object_metadata.text(value, "name")
        raise errors.ClusterError(f"ConfigMap {name}: {ACCOUNT_KEY} is not JSON") from None
    return found
