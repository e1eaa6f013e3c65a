"""How many examples generated tests try: few for a change, many at night."""

from typing import Final

from hypothesis import settings

THOROUGH: Final = "thorough"
"""The profile of `scripts/test --thorough`."""

_PART: Final = 5


def up_to(number: int) -> int:
    """The examples to try where `number` find what is there to find: all of them at night, a fifth for a change."""
    return number if settings.get_current_profile_name() == THOROUGH else max(number // _PART, 10)
