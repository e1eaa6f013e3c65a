"""Entries by key in two layers: a base that many ledgers share, and the changes to it.

A ledger of 10,000 entries changes hundreds of times in a second. Each change copies only the changes before it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher.authorities.gpu_quota.entries import Entry

Changes = Mapping[str, Entry | None]
"""Entries by key; None where an entry of the base was removed."""

_NOTHING: Final[Changes] = {}


class Layers(Mapping[str, Entry]):
    """Immutable; `changed` makes a new value."""

    __slots__ = ("_length", "base", "changes")

    def __init__(self, base: Mapping[str, Entry], changes: Changes = _NOTHING, *, length: int | None = None) -> None:
        """Takes the base, which must not change any more, the changes to it, and the number of entries if known."""
        self.base: Final = base
        self.changes: Final = changes
        self._length: Final = _length(base, changes) if length is None else length

    def changed(self, key: str, entry: Entry | None) -> "Layers":
        """These entries with another entry of a key, or without an entry of the key."""
        changes = {**self.changes, key: entry}
        if entry is None and key not in self.base:
            del changes[key]
        return Layers(self.base, changes, length=self._length - (key in self) + (entry is not None))

    def __getitem__(self, key: str) -> Entry:
        found = self.changes[key] if key in self.changes else self.base[key]
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        yield from (key for key in self.base if key not in self.changes)
        yield from (key for key, entry in self.changes.items() if entry is not None)

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Layers) and other.base is self.base:
            return all(self.get(key) == other.get(key) for key in {*self.changes, *other.changes})
        return isinstance(other, Mapping) and len(self) == len(other) and dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]  # a mapping of values that cannot be hashed

    def __repr__(self) -> str:
        return f"Layers({dict(self.items())!r})"


def _length(base: Mapping[str, Entry], changes: Changes) -> int:
    added = sum(key not in base for key, entry in changes.items() if entry is not None)
    return len(base) + added - sum(key in base for key, entry in changes.items() if entry is None)
