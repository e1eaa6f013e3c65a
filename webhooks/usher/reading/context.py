"""The context of an object: its namespace, the objects that it may refer to, and the kinds of objects inside it."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from usher import model, paths
from usher.dataclass import dataclass
from usher.reading import lookup
from usher.reading.templates import Template

MAX_DEPTH: Final = 4
"""Workloads in workloads. Deeper ones, for example four AppWrappers around another, are a mistake or an attack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """An object of a known kind inside another object. Its paths begin at the inner object."""

    versions: tuple[str, ...]
    """The known versions of its kind."""
    is_template: bool
    """Whether its kind makes pods only when something else refers to it."""
    templates: tuple[Template, ...] | None
    """None if usher does not know the version of the object."""
    unknowns: tuple[model.Unknown, ...] = ()
    references: Mapping[str, lookup.Reference]
    """The objects that its names refer to, by the path of the name."""


class Context(NamedTuple):
    """The context of one object."""

    namespace: str = ""
    """The namespace for names without one."""
    objects: lookup.Lookup = lookup.NOTHING
    find_inner: "FindInner | None" = None
    """Reads objects inside the object; without it their kinds are unknown."""
    depth: int = 0
    """How many objects enclose the object."""

    @property
    def is_too_deep(self) -> bool:
        """Whether too many objects enclose the object, so that usher does not read objects inside it."""
        return self.depth >= MAX_DEPTH

    def find(self, reference: lookup.Reference) -> paths.Object | None:
        """The object that a reference names; None if it does not exist or is unknown."""
        found = self.objects.find(reference)
        return None if isinstance(found, lookup.Absence) else found

    def inner(self, value: Mapping[str, paths.Json]) -> Inner | None:
        """An object inside the object, read by its own kind; None if its kind is unknown."""
        if self.find_inner is None or self.is_too_deep:
            return None
        return self.find_inner(value, self._replace(depth=self.depth + 1))


FindInner = Callable[[Mapping[str, paths.Json], Context], Inner | None]
"""Reads an object of any kind in its own context; None if its kind is unknown."""

NOWHERE: Final = Context()
"""A context without other objects and kinds."""
