"""Pairs the verdicts of two sides by their objects, and counts each object once."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from usher.dataclass import dataclass
from usher.replay import comparison
from usher.replay.comparison import Change, Difference
from usher.replay.verdicts import Side, Verdict

_ORDER: Final = {difference: number for number, difference in enumerate(Difference)}

_MOST_OWNERS: Final = 8
"""The most owners above each other. More of them, or a circle, must be invented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The changes of a new side."""

    before: Side
    after: Side
    changes: tuple[Change, ...]
    """One change for each object, in the order of the sources, also for objects without a difference."""
    owned: int = 0
    """Number of objects that count as part of their owner, because its verdict changes in the same way."""
    failures: tuple[Change, ...] = ()
    """Objects without a verdict on one side, because of an error in usher."""

    def of(self, difference: Difference) -> list[Change]:
        """The objects with this difference."""
        return [change for change in self.changes if change.difference is difference]

    @property
    def failed(self) -> bool:
        """Whether usher could not judge an input or an object. Then an equal verdict proves nothing."""
        return bool(self.failures or self.before.problems or self.after.problems)


def compare(before: Side, after: Side) -> Comparison:
    """The differences between two sides.

    An object with several reviews counts once, with the most important difference. An object counts as part of its
    recorded owner if the owner changes in the same way: the pods of a Job are its GPUs, and not more GPUs.
    """
    found = list(_by_object(before.verdicts, after.verdicts))
    changes = [_of_object(each) for each in found]
    by_uid = {change.shown.uid: change for change in changes if change.shown.uid}
    own = [change for change in changes if not _is_covered(change, by_uid)]
    return Comparison(
        before=before,
        after=after,
        changes=tuple(own),
        owned=len(changes) - len(own),
        failures=tuple(change for each in found for change in each if change.reason),
    )


def _by_object(before: Iterable[Verdict], after: Iterable[Verdict]) -> Iterable[list[Change]]:
    """The differences of each object, one for each operation."""
    sides: dict[tuple[str, str], list[Verdict | None]] = {}
    for number, verdicts in enumerate((before, after)):
        for verdict in verdicts:
            # The last review of an object decides.
            sides.setdefault((verdict.key, verdict.occasion), [None, None])[number] = verdict
    objects: dict[str, list[Change]] = defaultdict(list)
    for (key, _), (old, new) in sides.items():
        objects[key].append(comparison.of(old, new))
    return objects.values()


def _of_object(changes: Sequence[Change]) -> Change:
    return min(changes, key=lambda change: _ORDER[change.difference])


def _is_covered(change: Change, by_uid: dict[str, Change]) -> bool:
    """Whether an owner above has the same difference. Owners in a circle do not count, or all of them would be left
    out.
    """
    covered, verdict = False, change.shown
    for _ in range(_MOST_OWNERS):
        owner = by_uid.get(verdict.owner_uid) if verdict.owner_uid else None
        if owner is None:
            return covered
        covered = covered or owner.difference is change.difference
        verdict = owner.shown
    return False
