"""Deletes parts of accounts that no head names.

A part was made for one version of a head. If the head has another version now and does not name the part, no write can
name it any more: the write for which it was made can only replace that version. So the part can be deleted at once,
also while replicas write.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import orjson
import structlog

from usher import errors, paths
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.live import object_metadata, part_store
from usher.authorities.gpu_quota.live.account_store import ACCOUNT_KEY, PATH
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.cluster.api import NAMES

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
            owner = _owner(part)
            if owner is not None:
                found[owner].append(part)
        return found

    def _parts(self) -> Iterator[paths.Object]:
        path, following = part_store.config_maps(self._namespace), ""
        for _ in range(_MOST_PAGES):
            query = {"limit": str(_PAGE), "labelSelector": part_store.ACCOUNT}
            if following:
                query["continue"] = following
            answer = self._api.get(path, query=query, accept=NAMES)
            if answer.status != 200:
                raise errors.ClusterError(f"{path} cannot be listed: {answer.message}")
            items = answer.value.get("items")
            yield from (each for each in items if isinstance(each, dict)) if isinstance(items, list) else ()
            following = object_metadata.text(answer.value, "continue")
            if not following:
                return

    def _unused(self, owner: _Owner, several: list[paths.Object]) -> list[paths.Object]:
        kind, name, uid = owner
        path = f"{PATH}/{name}" if kind == "GPUQuota" else f"{part_store.config_maps(self._namespace)}/{name}"
        answer = self._api.get(path)
        if answer.status not in (200, 404):
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        if answer.status == 404 or object_metadata.text(answer.value, "uid") != uid:
            return several
        head = gpu_quota_status.decode(answer.value.get("status") if kind == "GPUQuota" else _in_data(answer.value))
        if not head.writable:
            return []
        named, version = {part.name for part in head.parts}, object_metadata.text(answer.value, "resourceVersion")
        return [
            part
            for part in several
            if object_metadata.text(part, "name") not in named and _label(part, part_store.AGAINST) != version
        ]

    def _delete(self, part: paths.Object) -> bool:
        path = f"{part_store.config_maps(self._namespace)}/{object_metadata.text(part, 'name')}"
        preconditions: paths.Object = {"uid": object_metadata.text(part, "uid")}
        answer = self._api.delete(path, {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions})
        if answer.status in (404, 409):
            return False
        if answer.status not in (200, 202):
            raise errors.ClusterError(f"{path} cannot be deleted: {answer.message}")
        return True


def _owner(part: paths.Object) -> _Owner | None:
    """The object with the head; None for ConfigMaps that are not parts."""
    found = paths.resolve(part, "/metadata/ownerReferences/0") if _has_owner(part) else None
    if not isinstance(found, dict) or not object_metadata.text(part, "name").startswith(part_store.NAME):
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


def _in_data(value: paths.Object) -> paths.Json:
    data = value.get("data")
    text = data.get(ACCOUNT_KEY) if isinstance(data, dict) else None
    try:
        found: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        return {"version": 0}
    return found
