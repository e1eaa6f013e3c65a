"""How many examples generated tests try: few for a change, many at night."""

from typing import Final

from hypothesis import settings

THOROUGH: Final = "thorough"
"""The profile of `scripts/test --thorough`."""

_PART: Final = 5


def up_to(number: int) -> int:
    """The number of examples to try: at night `number`, for a change a fifth of it."""
    return number if settings.get_current_profile_name() == THOROUGH else max(number // _PART, 10)
