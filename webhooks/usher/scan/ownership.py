"""Decides which objects count as part of a listed owner.

Any user can write an owner into an object. So an owner counts only if usher listed it, if it is in the same namespace
or in no namespace, and if its kind makes objects. So no object leaves an audit by naming a false owner.
"""

from collections.abc import Iterable, Mapping, Sequence

from usher import paths
from usher.kinds import registry
from usher.kinds.kind import Key


def key(value: paths.Object) -> Key:
    """Group and kind of an object."""
    return paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))


def by_kind(values: Iterable[paths.Object]) -> Mapping[Key, Sequence[paths.Object]]:
    """Objects by group and kind, in their order."""
    found: dict[Key, list[paths.Object]] = {}
    for value in values:
        found.setdefault(key(value), []).append(value)
    return found


def controller(value: paths.Object) -> paths.Object:
    """The reference of an object to its controlling owner; empty without one."""
    references = paths.metadata(value).get("ownerReferences")
    for each in references if isinstance(references, list) else ():
        if isinstance(each, dict) and each.get("controller") is True and paths.text(each.get("uid")):
            return each
    return {}


def makes_objects(kind: Key) -> bool:
    """Whether objects of a kind make others. Templates do not."""
    known = registry.WORKLOADS.get(kind)
    return known is not None and not known.is_template


class Owners:
    """The listed objects that may own others."""

    def __init__(self) -> None:
        self._namespaces: dict[str, str] = {}
        """Namespace of each owner by uid."""

    def add(self, value: paths.Object) -> None:
        """Takes an object. A Pod does not count as an owner: usher judges the objects that it makes separately."""
        uid, kind = paths.text(paths.metadata(value).get("uid")), key(value)
        if uid and kind != ("", "Pod") and makes_objects(kind):
            self._namespaces.setdefault(uid, paths.text(paths.metadata(value).get("namespace")))

    def own(self, value: paths.Object) -> bool:
        """Whether an object counts as part of one of the owners."""
        namespace = self._namespaces.get(paths.text(controller(value).get("uid")))
        return namespace is not None and namespace in ("", paths.text(paths.metadata(value).get("namespace")))
