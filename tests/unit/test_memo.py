"""A bounded memory of answers."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from usher.memo import Memo

BOUND = 60.0


def test_a_value_is_made_once() -> None:
    memo: Memo[str, list[int]] = Memo(2)

    assert memo.get("a", lambda: [1]) is memo.get("a", lambda: [2])


def test_the_values_that_were_asked_for_last_are_kept() -> None:
    memo: Memo[str, int] = Memo(2)
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return 0

    for key in "abacab":
        memo.get(key, partial(make, key))

    assert made == ["a", "b", "c", "b"]


def test_what_cannot_be_made_is_not_kept() -> None:
    memo: Memo[str, float] = Memo(2)

    with pytest.raises(ZeroDivisionError):
        memo.get("a", lambda: 1 / 0)

    assert memo.get("a", lambda: 1.0) == 1.0


def test_two_threads_that_make_a_value_share_the_first() -> None:
    memo: Memo[str, object] = Memo(2)
    both = threading.Barrier(2)

    def make() -> object:
        both.wait(BOUND)
        return object()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: memo.get("a", make), range(2))

    assert first is second
