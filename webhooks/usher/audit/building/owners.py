"""Trees of owners: find the listed object at the top that an object belongs to.

Any user can write an owner into an object. So an owner counts only if usher listed it, if it is in the same namespace
or in no namespace, and if its kind makes other objects. An object whose owner does not count is at the top of its own
tree. So no false reference can hide it from an audit.
"""

from sys import intern

from usher import paths
from usher.check import cluster_objects
from usher.check.findings import Identity
from usher.dataclass import dataclass
from usher.kinds import registry


@dataclass(frozen=True, slots=True)
class Listed:
    """An object that may own others. A cluster has as many as pods, so repeated texts share memory."""

    api_version: str
    kind: str
    namespace: str
    name: str
    controller: str
    """The uid of its controlling owner; empty without one."""


def _listed(value: paths.Object) -> Listed:
    """An object by its name as written."""
    metadata = paths.metadata(value)
    return Listed(
        intern(paths.text(value.get("apiVersion"))),
        intern(paths.text(value.get("kind"))),
        intern(paths.text(metadata.get("namespace"))),
        paths.text(metadata.get("name")),
        intern(paths.text(cluster_objects.controller_reference(value).get("uid"))),
    )


class Trees:
    """The objects that may own others, by uid."""

    def __init__(self) -> None:
        self._listed: dict[str, Listed] = {}
        self._tops: dict[str, str] = {}
        """Remembered answers, valid until an object is added."""

    def add(self, value: paths.Object) -> None:
        """Takes an object. One without a uid, as in a manifest, owns nothing."""
        uid = paths.text(paths.metadata(value).get("uid"))
        key = cluster_objects.group_and_kind(value)
        # usher knows nothing about other kinds, and they may well make pods.
        # The first of several objects with one uid counts: a later one cannot take over what it owns.
        if uid and uid not in self._listed and (cluster_objects.makes_objects(key) or key not in registry.BY_KEY):
            self._listed[uid] = _listed(value)
            self._tops.clear()

    def owner(self, uid: str, namespace: str) -> str:
        """The uid itself if a listed object has it and may own objects of the namespace; else empty."""
        found = self._listed.get(uid)
        return uid if found is not None and found.namespace in ("", namespace) else ""

    def top(self, uid: str, namespace: str) -> str:
        """The uid of the object at the top of the tree above an object of the namespace; empty without an owner.

        Args:
            uid: the controlling owner that the object names.
            namespace: the namespace of the object.
        """
        known = self._tops.get(uid)
        if known is not None and self.owner(known, namespace):
            return known
        way, current = list[str](), self.owner(uid, namespace)
        while current and current not in way:
            way.append(current)
            listed = self._listed[current]
            above = self.owner(listed.controller, listed.namespace or namespace)
            if not above:
                break
            current = above
        # Objects that own each other in a circle have no top: the smallest uid stands for all of them.
        found = min(way[way.index(current) :]) if way and current in way[:-1] else current
        if found:
            self._tops[uid] = found
        return found

    def root(self, uid: str) -> str:
        """The uid of the object at the top of the tree of a listed object: itself if it has no owner."""
        listed = self._listed.get(uid)
        return uid if listed is None else self.top(listed.controller, listed.namespace) or uid

    def identity(self, uid: str) -> Identity:
        """The name of a listed object."""
        found = self._listed[uid]
        return Identity(api_version=found.api_version, kind=found.kind, namespace=found.namespace, name=found.name)
