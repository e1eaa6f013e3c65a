"""The kinds of objects that constraints match: a webhook has to name them, and an audit to list them."""

from collections.abc import Collection
from typing import Final

from usher.dataclass import dataclass
from usher.gatekeeper.library import Library

ANY: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MatchedKind:
    """A kind of a group; `*` means every kind, or every group."""

    group: str
    kind: str

    def includes(self, group: str, kind: str) -> bool:
        return self.group in (ANY, group) and self.kind in (ANY, kind)


def of(library: Library, points: Collection[str]) -> tuple[MatchedKind, ...]:
    """The kinds that the constraints for these enforcement points match, sorted; one may include another."""
    found = {
        MatchedKind(group=group, kind=kind)
        for constraint in library.constraints
        if constraint.outcome(points) is not None
        for each in constraint.match.kinds or (None,)
        for group in (each.groups if each else ()) or (ANY,)
        for kind in (each.kinds if each else ()) or (ANY,)
    }
    return tuple(sorted(found))


def read_by(library: Library, points: Collection[str]) -> tuple[MatchedKind, ...]:
    """The kinds that an audit reads for the constraints: those that they match, and those that they compare with."""
    used = {each.kind for each in library.constraints if each.outcome(points) is not None}
    compared = {
        MatchedKind(group=group, kind=kind)
        for name, each in library.templates.items()
        if name in used and each.module is not None
        for group, kind in each.template.compares_with
    }
    return tuple(sorted({*of(library, points), *compared}))
