"""Reads and writes the accounts of quotas in an API server.

An account is written only if no other replica wrote it since it was read. A GPUQuota has its account in its status. A
quota of usher.yaml has it, in the same format, in a ConfigMap in a namespace for accounts alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson

from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live.metering import NO_METER, Meter
from usher.cluster.api import Answer, Lists

PATH: Final = "/apis/gpu-usher.io/v1alpha1/gpuquotas"

CONFIG_MAP: Final = "gpu-usher-quota-"
"""The start of the name of a ConfigMap with an account; the name of the quota follows."""

ACCOUNT_KEY: Final = "account.json"
"""The field of `data` with the account in a ConfigMap."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A quota with its charges."""

    quota: Quota
    ledger: Ledger
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries. They stay until an administrator removes them."""


class StatusStore:
    """The account of a GPUQuota, in its status."""

    def __init__(self, api: Api, name: str, *, meter: Meter = NO_METER) -> None:
        """Takes the API server, the name of the GPUQuota, and a meter of conflicts."""
        self._api = api
        self._meter = meter
        self._path = f"{PATH}/{name}"

    def read(self) -> Stored[Account]:
        """The account in etcd. The request has no resource version, so the API server does not answer from a cache.

        Raises:
            ClusterError: the GPUQuota does not exist, or cannot be read.
        """
        answer = self._api.get(self._path)
        if answer.status != 200:
            raise errors.ClusterError(f"{self._path} cannot be read: {answer.message}")
        return self._stored(answer.value)

    def write(self, stored: Stored[Account]) -> Stored[Account] | None:
        """Writes the status; None where the object was written since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        value, account = stored.version, stored.state
        before = value.get("status")
        new = {**(before if isinstance(before, dict) else {}), **_encoded(account)}
        answer = self._api.put(f"{self._path}/status", {**value, "status": new})
        if answer.status == _CONFLICT:
            self._meter.conflicted()
            return None
        if answer.status != 200:
            raise errors.ClusterError(f"{self._path}/status cannot be written: {answer.message}")
        return self._stored(answer.value)

    def _stored(self, value: paths.Object) -> Stored[Account]:
        quota = gpu_quota_definitions.of_object(value)
        if isinstance(quota, gpu_quota_definitions.Malformed):
            pointer, reason = quota.problems[0]
            raise errors.ClusterError(f"{quota} cannot be read: {pointer}: {reason}")
        return Stored(state=_account(quota, value.get("status")), version=value)


class ConfigMapStore:
    """The account of a quota of usher.yaml, in a ConfigMap."""

    def __init__(self, api: Api, quota: Callable[[], Quota], *, namespace: str, meter: Meter = NO_METER) -> None:
        """Takes a function that gives the declared quota, the namespace of the ConfigMap, and a meter of conflicts."""
        self._api = api
        self._meter = meter
        self._quota = quota
        self._namespace = namespace

    def read(self) -> Stored[Account]:
        """The account in etcd; empty where no replica has charged the quota yet.

        Raises:
            ClusterError: it cannot be read.
        """
        quota = self._quota()
        path = config_map_path(self._namespace, quota.name)
        answer = self._api.get(path)
        if answer.status == _NOT_FOUND:
            return Stored(state=Account(quota=quota, ledger=gpu_quota_ledger.EMPTY), version=None)
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        return _in_config_map(quota, answer.value)

    def write(self, stored: Stored[Account]) -> Stored[Account] | None:
        """Writes the account; None where another replica wrote or deleted it since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        account, before = stored.state, stored.version
        path = config_map_path(self._namespace, account.quota.name)
        data: paths.Object = {ACCOUNT_KEY: orjson.dumps(_encoded(account)).decode()}
        if before is None:
            metadata: paths.Object = {"name": f"{CONFIG_MAP}{account.quota.name}", "namespace": self._namespace}
            new: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
            answer = self._api.post(path.rpartition("/")[0], new)
        else:
            answer = self._api.put(path, {**before, "data": data})
        if answer.status == _CONFLICT or (answer.status == _NOT_FOUND and before is not None):
            self._meter.conflicted()
            return None
        if answer.status not in (200, 201):
            raise errors.ClusterError(f"{path} cannot be written: {answer.message}")
        return _in_config_map(account.quota, answer.value)


def config_map_path(namespace: str, quota: str) -> str:
    """The path of the ConfigMap with the account of a quota of usher.yaml."""
    return f"/api/v1/namespaces/{namespace}/configmaps/{CONFIG_MAP}{quota}"


def _in_config_map(quota: Quota, value: paths.Object) -> Stored[Account]:
    data = value.get("data")
    text = data.get(ACCOUNT_KEY) if isinstance(data, dict) else None
    try:
        status: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        raise errors.ClusterError(f"ConfigMap {CONFIG_MAP}{quota.name}: {ACCOUNT_KEY} is not JSON") from None
    return Stored(state=_account(quota, status), version=value)


def _account(quota: Quota, status: paths.Json) -> Account:
    found = gpu_quota_status.decode(status)
    if not found.writable:
        raise errors.ClusterError(f"{quota} cannot be charged: {found.problems[0][1]}")
    return Account(quota=quota, ledger=found.ledger, unread=found.unread)


def _encoded(account: Account) -> paths.Object:
    return gpu_quota_status.encode(account.ledger, account.quota.limits, unread=account.unread)
