"""A bounded memory of answers by key, for any number of threads."""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, AnyStr, Final, Generic, TypeVar, cast

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Entry = TypeVar("Entry")

_PIECE: Final = 2000
"""Bytes. For larger texts hashlib lets other threads run, and then waits up to 5 ms for its turn."""


def digest(text: bytes) -> bytes:
    """A key in place of a text. The memo does not keep texts of orjson: each lies in a buffer of up to 16 times its
    length.
    """
    found = hashlib.sha256(text[:_PIECE])
    for start in range(_PIECE, len(text), _PIECE):
        found.update(text[start : start + _PIECE])
    return found.digest()


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, compiled at its first use: most runs use few of the patterns that modules hold."""
    return cast(re.Pattern[AnyStr], _Pattern(text, flags))


class _Pattern:
    def __init__(self, *source: Any) -> None:  # noqa: ANN401 - as of re.compile
        self._source = source

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as of re.Pattern
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for each in ("findall", "finditer", "fullmatch", "match", "pattern", "search", "split", "sub"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


class Memo(Generic[Key, Value]):
    """Keeps the `size` most recently used values, each from the second request for its key on.

    Most keys are requested once. Keeping their values would cost more than making them, because Python's garbage
    collector visits every kept value.
    """

    def __init__(self, size: int, *, at_once: bool = False) -> None:
        """With `at_once`, keeps a value from its first request on. Use it where making a value costs much more than
        keeping it.
        """
        self._size = size
        self._at_once = at_once
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._asked: OrderedDict[Key, None] = OrderedDict()
        """Keys that were requested once."""
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value], *, holds: Callable[[Value], bool] = lambda _: True) -> Value:
        """The value of a key.

        Args:
            key: everything that the value depends on.
            make: makes a missing value, possibly in several threads at once. If it raises, the memo keeps nothing.
            holds: whether a kept value is still right.
        """
        with self._lock:
            found = key in self._kept
            if found:
                self._kept.move_to_end(key)
                value = self._kept[key]
        if found and holds(value):
            return value
        value = make()
        with self._lock:
            if self._at_once or found or key in self._asked:
                self._asked.pop(key, None)
                self._put(self._kept, key, value)
            else:
                self._put(self._asked, key, None)
        return value

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._kept.clear()
            self._asked.clear()

    def _put(self, entries: OrderedDict[Key, Entry], key: Key, entry: Entry) -> None:
        entries[key] = entry
        entries.move_to_end(key)
        if len(entries) > self._size:
            entries.popitem(last=False)
