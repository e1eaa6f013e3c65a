"""Which objects count as part of a listed owner.

Anybody can write an owner into an object. So an owner counts only if it was listed itself, is in the same namespace (or
in no namespace), and is of a kind that makes objects: no object leaves an audit by naming a false one.
"""

from collections.abc import Iterable, Mapping, Sequence

from usher import paths
from usher.kinds import registry
from usher.kinds.kept_fields import Key


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
    """The reference to the controlling owner that an object names; empty without one."""
    references = paths.metadata(value).get("ownerReferences")
    for each in references if isinstance(references, list) else ():
        if isinstance(each, dict) and each.get("controller") is True and paths.text(each.get("uid")):
            return each
    return {}


def makes_objects(kind: Key) -> bool:
    """Whether objects of a kind make others, which templates do not."""
    known = registry.WORKLOADS.get(kind)
    return known is not None and not known.is_template


class Owners:
    """The objects that were listed and may own others."""

    def __init__(self) -> None:
        self._namespaces: dict[str, str] = {}
        """By uid."""

    def add(self, value: paths.Object) -> None:
        """Takes an object. A Pod does not count as an owner: what it makes is judged itself."""
        uid, kind = paths.text(paths.metadata(value).get("uid")), key(value)
        if uid and kind != ("", "Pod") and makes_objects(kind):
            self._namespaces.setdefault(uid, paths.text(paths.metadata(value).get("namespace")))

    def own(self, value: paths.Object) -> bool:
        """Whether the object counts as part of one of them."""
        namespace = self._namespaces.get(paths.text(controller(value).get("uid")))
        return namespace is not None and namespace in ("", paths.text(paths.metadata(value).get("namespace")))
