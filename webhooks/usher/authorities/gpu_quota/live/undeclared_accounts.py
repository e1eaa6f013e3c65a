"""Deletes accounts of quotas that usher.yaml no longer declares.

Replicas get a new usher.yaml at different times. So an account is deleted only if no replica has written it for as long
as a reservation lasts, and only in the version that was last seen.
"""

from collections.abc import Callable, Iterator
from typing import Final

import structlog

from usher import errors, paths
from usher.authorities.gpu_quota.live import object_metadata, part_store
from usher.authorities.gpu_quota.live.account_store import ACCOUNT_KEY, CONFIG_MAP, config_map_path
from usher.authorities.gpu_quota.live.objects_api import Api
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
            name = config_map.removeprefix(CONFIG_MAP)
            if name not in (config_map, *declared):
                yield name

    def _names(self) -> list[str]:
        """The names of the ConfigMaps in the namespace, at most some seconds old."""
        if self._listed is not None and 0 <= self._clock() - self._listed[1] < _OLDEST:
            return self._listed[0]
        path = f"/api/v1/namespaces/{self._namespace}/configmaps"
        query = {"limit": str(_MOST), "labelSelector": f"!{part_store.ACCOUNT}"}
        answer = self._api.get(path, query=query, accept=NAMES)
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be listed: {answer.message}")
        items = answer.value.get("items")
        found = (
            [object_metadata.text(each, "name") for each in items if isinstance(each, dict)]
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
        data, version = answer.value.get("data"), object_metadata.text(answer.value, "resourceVersion")
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
