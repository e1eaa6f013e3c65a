"""How many examples generated tests try: few for a change, many at night."""

from typing import Final

from hypothesis import settings

THOROUGH: Final = "thorough"
"""The profile of `scripts/test --thorough`."""

_PART: Final = 5


def are_thorough() -> bool:
    """Whether `scripts/test --thorough` runs."""
    return settings.get_current_profile_name() == THOROUGH


def up_to(number: int) -> int:
    """The number of examples to try: at night `number`, for a change a fifth of it."""
    return number if are_thorough() else max(number // _PART, 10)
