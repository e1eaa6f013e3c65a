"""Deletes accounts of quotas that usher.yaml no longer declares.

Replicas get a new usher.yaml at different times. So an account is deleted only if no replica has written it for as long
as a reservation lasts, and only in the version that was last seen.
"""

from collections.abc import Callable, Iterator

import structlog

from usher import errors, paths
from usher.authorities.gpu_quota.live import object_metadata
from usher.authorities.gpu_quota.live.account_store import ACCOUNT_KEY, CONFIG_MAP, Api, config_map_path
from usher.authorities.knowledge import Knowledge
from usher.reading.lookup import Absence


class UndeclaredAccounts:
    """Remembers when each undeclared account last changed."""

    def __init__(
        self, api: Api, knowledge: Callable[[], Knowledge], *, namespace: str, clock: Callable[[], float]
    ) -> None:
        """Takes the API server, a function that gives the knowledge, the namespace of gpu-usher, a clock in seconds."""
        self._api = api
        self._knowledge = knowledge
        self._namespace = namespace
        self._clock = clock
        self._unchanged: dict[str, tuple[str, float]] = {}
        """The resource version of an account and the time when it was first seen, by the name of the quota."""
        self._logged = ""

    def delete(self) -> int:
        """Deletes accounts that have not changed for long enough. Returns how many; a failure is logged once."""
        deleted, unchanged, problem = 0, dict[str, tuple[str, float]](), ""
        for name in self._undeclared():
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
        """The names of undeclared quotas with an account; empty where the names of ConfigMaps are unknown."""
        known = self._knowledge()
        found = known.facts.objects("", "ConfigMap", self._namespace)
        declared = {entry.name for entry in known.config.quotas}
        for config_map in () if isinstance(found, Absence) else sorted(found):
            name = config_map.removeprefix(CONFIG_MAP)
            if name not in (config_map, *declared):
                yield name

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
