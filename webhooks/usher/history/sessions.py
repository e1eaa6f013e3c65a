"""A transaction of a database, as the tables of a history use it."""

from collections.abc import Iterable, Sequence
from typing import Protocol

Row = Sequence[str]


class Session(Protocol):
    """A transaction. Parameters are the `?` of a statement."""

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[Row]:
        """The rows of a question; also of a statement without rows."""
        ...

    def many(self, statement: str, parameters: Iterable[Sequence[str]]) -> None:
        """Does a statement for each of the parameters."""
        ...


def clean(texts: Iterable[str]) -> list[str]:
    """Texts that every database holds: without NUL, and with whole characters only."""
    return [each.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode() for each in texts]
