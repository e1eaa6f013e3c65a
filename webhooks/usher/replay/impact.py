"""The content of a report about a comparison."""

from collections.abc import Mapping, Sequence

from usher.dataclass import dataclass
from usher.replay import amounts, causes
from usher.replay.amounts import Concerned, Group, OfCheck
from usher.replay.causes import Chapter
from usher.replay.comparison import Difference
from usher.replay.matching import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """The numbers of a comparison, and its objects by cause."""

    comparison: Comparison
    whole: Concerned
    """All objects, including those without a difference."""
    by_difference: Mapping[Difference, Concerned]
    """Only differences with objects; together they are `whole`."""
    checks: Sequence[OfCheck]
    namespaces: Sequence[Group]
    owners: Sequence[Group]
    users: Sequence[Group]
    """Empty unless the objects come from recorded reviews."""
    causes: Mapping[Difference, Sequence[Chapter]]

    def of(self, difference: Difference) -> Concerned:
        """The objects with a difference."""
        return self.by_difference.get(difference, amounts.NO_OBJECTS)


def of(comparison: Comparison) -> Impact:
    """The impact of a comparison."""
    changes = comparison.changes
    by_difference = amounts.by_difference(changes)
    return Impact(
        comparison=comparison,
        whole=amounts.concerned(changes),
        by_difference=by_difference,
        checks=amounts.by_check(changes),
        namespaces=amounts.by_namespace(changes),
        owners=amounts.by_owner(changes),
        users=amounts.by_user(changes),
        causes={each: causes.of(changes, each) for each in by_difference if each is not Difference.NOTHING},
    )
