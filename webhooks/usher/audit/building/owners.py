"""The trees of owners: which listed object at the top an object belongs to.

Anybody can write an owner into an object. So an owner counts only if it was listed itself, is in the same namespace
(or in no namespace), and is of a kind that makes other objects. An object whose owner does not count is at the top of
its own tree, so that no reference takes it out of an audit.
"""

from sys import intern

from usher import paths
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.scan import ownership
from usher.scan.findings import Identity


@dataclass(frozen=True, slots=True)
class Listed:
    """An object that may own others. A cluster has as many as pods, so texts that repeat are kept once."""

    api_version: str
    kind: str
    namespace: str
    name: str
    controller: str
    """The uid of the controlling owner that it names; empty without one."""


def _listed(value: paths.Object) -> Listed:
    """An object by its name as it is written."""
    metadata = paths.metadata(value)
    return Listed(
        intern(paths.text(value.get("apiVersion"))),
        intern(paths.text(value.get("kind"))),
        intern(paths.text(metadata.get("namespace"))),
        paths.text(metadata.get("name")),
        intern(paths.text(ownership.controller(value).get("uid"))),
    )


class Trees:
    """The objects that may own others, by uid."""

    def __init__(self) -> None:
        self._listed: dict[str, Listed] = {}
        self._tops: dict[str, str] = {}
        """Remembered answers, while nothing is added."""

    def add(self, value: paths.Object) -> None:
        """Takes an object; one without a uid, as in a manifest, owns nothing."""
        uid = paths.text(paths.metadata(value).get("uid"))
        key = ownership.key(value)
        # Usher knows nothing of other kinds, and they may well make pods.
        # The first of several objects with one uid counts: no later one takes away what it owns.
        if uid and uid not in self._listed and (ownership.makes_objects(key) or key not in registry.BY_KEY):
            self._listed[uid] = _listed(value)
            self._tops.clear()

    def owner(self, uid: str, namespace: str) -> str:
        """The uid, where it is that of a listed object that may own objects of the namespace; else empty."""
        found = self._listed.get(uid)
        return uid if found is not None and found.namespace in ("", namespace) else ""

    def top(self, uid: str, namespace: str) -> str:
        """The uid of the object at the top of the tree above an object of the namespace; empty without an owner.

        Args:
            uid: the controlling owner that the object names.
            namespace: that of the object.
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
        # Objects that own each other in a circle have no top: the least uid stands for all of them.
        found = min(way[way.index(current) :]) if way and current in way[:-1] else current
        if found:
            self._tops[uid] = found
        return found

    def root(self, uid: str) -> str:
        """The uid of the object at the top of the tree that holds a listed object: itself, where nothing owns it."""
        listed = self._listed.get(uid)
        return uid if listed is None else self.top(listed.controller, listed.namespace) or uid

    def identity(self, uid: str) -> Identity:
        """The name of a listed object."""
        found = self._listed[uid]
        return Identity(api_version=found.api_version, kind=found.kind, namespace=found.namespace, name=found.name)
