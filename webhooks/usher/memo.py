"""A bounded cache of values by key, for any number of threads."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """Keeps the `size` most recently used values."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key. `make` makes a missing value, possibly in several threads at once.

        Raises:
            Exception: an error of `make`; the memo then keeps no value.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            # The value of the first thread wins, so that all threads share one value.
            value = self._kept.setdefault(key, made)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return value
