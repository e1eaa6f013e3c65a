"""How many examples and parameters tests try: few for a change, many at night."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import pytest
from hypothesis import settings

_Value = TypeVar("_Value")

THOROUGH: Final = "thorough"
"""The profile of `scripts/test --thorough`."""

_PART: Final = 10


def are_thorough() -> bool:
    """Whether `scripts/test --thorough` runs."""
    return settings.get_current_profile_name() == THOROUGH


def up_to(number: int) -> int:
    """The number of examples to try: at night `number`, for a change a tenth of it."""
    return number if are_thorough() else max(number // _PART, 10)


def in_turn(
    values: Iterable[_Value],
    *,
    every: int,
    always: Callable[[_Value], bool] = lambda _: False,
    others: pytest.MarkDecorator = pytest.mark.thorough,
) -> list[Any]:
    """Parameters of a test: one of so many, and those that are tried always, without a mark.

    The others are marked `thorough`, for the night, or `costly`: `scripts/test --fast` leaves these out.
    """
    return [
        each if number % every == 0 or always(each) else pytest.param(each, marks=others)
        for number, each in enumerate(values)
    ]
