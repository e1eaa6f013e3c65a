"""The known word that a writer may have meant."""

import difflib
from collections.abc import Collection
from typing import Final

_LONGEST: Final = 64
"""Comparing takes time with the product of the lengths, and no word is longer."""


def nearest(word: str, known: Collection[str]) -> str:
    """`; did you mean KNOWN?`, or an empty text where every known word differs too much."""
    by_case = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(word[:_LONGEST].casefold(), by_case, n=1)
    return f"; did you mean {by_case[close[0]]}?" if close else ""
