"""The changes of a document that the editor offers."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from usher.dataclass import dataclass
from usher.editor.positions import Range, Text
from usher.policy.evaluator import Evaluator
from usher.scan import findings
from usher.scan.batches import Batch

Judge = Callable[[Sequence[Batch]], findings.Report]
"""Judges a file and its neighbours, with mutations and diffs."""


class Write(Protocol):
    """Writes into a file the changes of admission, and the remedies of findings that leave no choice."""

    def __call__(
        self, batch: Batch, content: bytes, *, judge: Judge, evaluator: Evaluator, keys: Collection[str]
    ) -> bytes:
        """The new content; unchanged if there is nothing to change, or a change cannot be written.

        Args:
            batch: the objects of the file.
            content: the file.
            judge: judges the file before and after the change.
            evaluator: knows the checks and mutations.
            keys: `category/name` of the checks and mutations to apply; empty for all.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    range: Range
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that the user can choose by its title."""

    title: str
    edit: Edit
    rule: str = ""
    """The check whose finding it removes; empty for a change of the whole file."""


def edit(text: Text, new: str) -> Edit | None:
    """The edit that turns the old text into the new one: the lines from the first to the last difference."""
    old = text.content
    if old == new:
        return None
    start = _common(old, new)
    start = max(old.rfind("\n", 0, start), new.rfind("\n", 0, start)) + 1
    tail = _common(old[start:][::-1], new[start:][::-1])
    # An edit ends at the end of a line, so it never cuts a character in two.
    kept = old[len(old) - tail :]
    tail = len(kept) - kept.find("\n") - 1 if "\n" in kept else 0
    return Edit(range=text.range(start, len(old) - tail), text=new[start : len(new) - tail])


def _common(one: str, other: str) -> int:
    """The number of characters at the start that two texts have in common."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
