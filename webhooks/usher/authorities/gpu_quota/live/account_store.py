"""Quotas in an API server: read as they are now, and written only where nobody wrote meanwhile.

A GPUQuota keeps its account in its status. One that usher.yaml declares has no object; a ConfigMap of our own namespace
keeps its account in the same words, so that clusters without our definition have the same quotas.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live.accounts import Page
from usher.authorities.gpu_quota.live.metering import NOBODY, Meter
from usher.cluster.api import Answer, Lists

PATH: Final = "/apis/gpu-usher.io/v1alpha1/gpuquotas"

CONFIG_MAP: Final = "gpu-usher-quota-"
"""Begins the name of a ConfigMap that keeps an account; the name of the quota follows."""

_ACCOUNT_KEY: Final = "account.json"
_NOT_THERE: Final = 404
_CONFLICT: Final = 409


class Api(Lists, Protocol):
    """An API that can be written to."""

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT request, whatever its status. Raises ClusterError where there is none."""
        ...

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST request, whatever its status. Raises ClusterError where there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A quota with what it has charged."""

    quota: Quota
    ledger: Ledger
    unread: tuple[paths.Json, ...] = ()
    """Entries that cannot be read, which stay as they are until somebody takes them out."""


class Statuses:
    """The status of one GPUQuota."""

    def __init__(self, api: Api, name: str, *, meter: Meter = NOBODY) -> None:
        self._api = api
        self._meter = meter
        self._path = f"{PATH}/{name}"

    def read(self) -> Page[Account]:
        """The object as etcd has it: no resource version is asked for, so no cache answers.

        Raises:
            ClusterError: it is not there, cannot be read, or says what we do not understand.
        """
        answer = self._api.get(self._path)
        if answer.status != 200:
            raise errors.ClusterError(f"{self._path} cannot be read: {answer.message}")
        return self._page(answer.value)

    def write(self, page: Page[Account]) -> Page[Account] | None:
        """Writes the status; None where another wrote the object since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        value, account = page.version, page.state
        known = value.get("status")
        told = {**known} if isinstance(known, dict) else {}
        new = {**told, **gpu_quota_status.encode(account.ledger, account.quota.limits, unread=account.unread)}
        answer = self._api.put(f"{self._path}/status", {**value, "status": new})
        if answer.status == _CONFLICT:
            self._meter.conflicted()
            return None
        if answer.status != 200:
            raise errors.ClusterError(f"{self._path}/status cannot be written: {answer.message}")
        return self._page(answer.value)

    def _page(self, value: paths.Object) -> Page[Account]:
        quota, found = gpu_quota_definitions.of_object(value), gpu_quota_status.decode(value.get("status"))
        if isinstance(quota, gpu_quota_definitions.Malformed):
            pointer, reason = quota.problems[0]
            raise errors.ClusterError(f"{quota} cannot be read: {pointer}: {reason}")
        if not found.writable:
            raise errors.ClusterError(f"{quota} cannot be charged: {found.problems[0][1]}")
        return Page(state=Account(quota=quota, ledger=found.ledger, unread=found.unread), version=value)


class ConfigMaps:
    """The account of one quota that usher.yaml declares."""

    def __init__(self, api: Api, quota: Callable[[], Quota], *, namespace: str, meter: Meter = NOBODY) -> None:
        """Takes what gives the quota as it is declared now, the namespace of the ConfigMap, and what counts."""
        self._api = api
        self._meter = meter
        self._quota = quota
        self._namespace = namespace
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"

    def read(self) -> Page[Account]:
        """The account as etcd has it; an empty one where nobody has charged the quota yet.

        Raises:
            ClusterError: it cannot be read, or says what we do not understand.
        """
        quota = self._quota()
        path = f"{self._path}/{CONFIG_MAP}{quota.name}"
        answer = self._api.get(path)
        if answer.status == _NOT_THERE:
            return Page(state=Account(quota=quota, ledger=gpu_quota_ledger.EMPTY), version=None)
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        return self._page(answer.value, quota)

    def write(self, page: Page[Account]) -> Page[Account] | None:
        """Writes the account; None where another wrote it since it was read.

        Raises:
            ClusterError: it cannot be written.
        """
        quota, before = page.state.quota, page.version
        name = f"{CONFIG_MAP}{quota.name}"
        account = page.state
        text = orjson.dumps(gpu_quota_status.encode(account.ledger, quota.limits, unread=account.unread)).decode()
        if before is None:
            metadata: paths.Object = {"name": name, "namespace": self._namespace}
            new: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            answer = self._api.post(self._path, {**new, "data": {_ACCOUNT_KEY: text}})
        else:
            answer = self._api.put(f"{self._path}/{name}", {**before, "data": {_ACCOUNT_KEY: text}})
        if answer.status == _CONFLICT:
            self._meter.conflicted()
            return None
        if answer.status not in (200, 201):
            raise errors.ClusterError(f"{self._path}/{name} cannot be written: {answer.message}")
        return self._page(answer.value, quota)

    def _page(self, value: paths.Object, quota: Quota) -> Page[Account]:
        data = value.get("data")
        text = data.get(_ACCOUNT_KEY) if isinstance(data, dict) else None
        try:
            said: paths.Json = orjson.loads(text) if isinstance(text, str) else None
        except ValueError:
            raise errors.ClusterError(f"ConfigMap {CONFIG_MAP}{quota.name}: {_ACCOUNT_KEY} is no JSON") from None
        found = gpu_quota_status.decode(said)
        if not found.writable:
            raise errors.ClusterError(f"{quota} cannot be charged: {found.problems[0][1]}")
        return Page(state=Account(quota=quota, ledger=found.ledger, unread=found.unread), version=value)
