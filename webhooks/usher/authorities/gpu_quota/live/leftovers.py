"""Deletes accounts of quotas that usher.yaml no longer declares, and parts of accounts that no head names.

A part was made for one version of a head. If the head has another version now and does not name the part, no write can
name it any more: the write for which it was made can only replace that version. So the part can be deleted at once,
also while replicas write.

Replicas get a new usher.yaml at different times. So an account is deleted only if no replica has written it for as long
as a reservation lasts, and only in the version that was last seen.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import orjson
import structlog

from usher import errors, paths
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.live import account_store, holdings
from usher.authorities.gpu_quota.live.account_store import (
    ACCOUNT_KEY,
    ACCOUNT_NAME_PREFIX,
    QUOTAS_PATH,
    Api,
    config_map_path,
)
from usher.authorities.knowledge import Knowledge
from usher.cluster.api import NAMES
from usher.kinds.reading.values import Absence

_OLDEST: Final = 10.0
"""Seconds until the names of ConfigMaps are listed again."""

_MOST: Final = 500
"""ConfigMaps that are looked at; usher.yaml declares far fewer quotas."""


class UndeclaredAccounts:
    """Remembers when each undeclared account last changed."""

    def __init__(
        self, api: Api, knowledge: Callable[[], Knowledge], *, namespace: str, clock: Callable[[], float]
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
                seen = self._seen(name)
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
            name = config_map.removeprefix(ACCOUNT_NAME_PREFIX)
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

    def _seen(self, name: str) -> tuple[str, float] | None:
        """The version of an account and when it was first seen; None without the ConfigMap or its account."""
        path = config_map_path(self._namespace, name)
        answer = self._api.get(path)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        data, version = answer.value.get("data"), holdings.metadata_text(answer.value, "resourceVersion")
        if not isinstance(data, dict) or ACCOUNT_KEY not in data:
            return None
        before = self._unchanged.get(name)
        return before if before is not None and before[0] == version else (version, self._clock())

    def _is_over(self, seen: tuple[str, float]) -> bool:
        return self._clock() - seen[1] > self._knowledge().config.facts.reservation

    def _delete(self, name: str, version: str) -> bool:
        path = config_map_path(self._namespace, name)
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

    def __init__(self, api: Api, *, namespace: str) -> None:
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
            f"{QUOTAS_PATH}/{name}"
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
    text = data.get(ACCOUNT_KEY) if isinstance(data, dict) else None
    try:
        found: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        return {"version": 0}
    return found
