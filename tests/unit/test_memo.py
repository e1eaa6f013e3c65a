"""A bounded memory of answers."""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from usher import memo as usher_memo
from usher.memo import Memo


def test_a_value_is_kept_from_the_second_time_on() -> None:
    memo: Memo[str, int] = Memo(2)

    assert [memo.get("a", partial(int, number)) for number in range(4)] == [0, 1, 1, 1]


def test_a_value_is_kept_at_once_where_making_it_costs_more() -> None:
    memo: Memo[str, int] = Memo(2, at_once=True)

    assert [memo.get("a", partial(int, number)) for number in range(3)] == [0, 0, 0]


def test_a_cleared_memory_has_forgotten_its_values() -> None:
    memo: Memo[str, int] = Memo(2, at_once=True)
    memo.get("a", lambda: 1)

    memo.clear()

    assert memo.get("a", lambda: 2) == 2


def test_the_values_that_were_asked_for_last_are_kept() -> None:
    memo: Memo[str, int] = Memo(2)
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return 0

    for key in "aabbaccba":
        memo.get(key, partial(make, key))

    assert made == [*"aabbccb"]


def test_what_cannot_be_made_is_not_kept() -> None:
    memo: Memo[str, float] = Memo(2)

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            memo.get("a", lambda: 1 / 0)

    assert memo.get("a", lambda: 1.0) == 1.0


def test_a_value_that_no_longer_holds_is_replaced() -> None:
    memo: Memo[str, int] = Memo(2)

    def ask(number: int) -> int:
        return memo.get("a", lambda: number, holds=lambda kept: kept >= number)

    assert [ask(number) for number in (1, 2, 2, 1, 3, 2)] == [1, 2, 2, 2, 3, 3]


def test_threads_ask_at_once() -> None:
    memo: Memo[int, int] = Memo(8)

    def work(start: int) -> bool:
        return all(memo.get(key % 16, partial(int, key % 16)) == key % 16 for key in range(start, 2000))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_a_pattern_is_compiled_once_and_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_one = re.compile

    def counted(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return compile_one(text, flags)

    monkeypatch.setattr(re, "compile", counted)
    pattern = usher_memo.pattern("a(.)", re.IGNORECASE)
    assert compiled == []

    assert [pattern.fullmatch(text) is not None for text in ("Ab", "abc")] == [True, False]
    assert pattern.sub(r"\1", "ABAC") == "BC"
    assert pattern.pattern == "a(.)"
    assert compiled == ["a(.)"]
