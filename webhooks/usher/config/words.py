"""The known word that a writer may have meant."""

import difflib
from collections.abc import Collection
from typing import Final

_LONGEST: Final = 64
"""Characters of a word that are compared; known words are shorter, and the time grows with the lengths."""

_LOOK_ALIKE: Final = str.maketrans("oil", "011")

_EQUALLY_CLOSE: Final = 50
"""This many close words are compared again, letter by letter: USH3O2 has as many letters of USH432 as of USH302."""


def nearest(word: str, known: Collection[str]) -> str:
    """`; did you mean KNOWN?`, or an empty text where every known word differs too much."""
    by_case = {each.casefold(): each for each in known}
    given = word[:_LONGEST].casefold()
    close = difflib.get_close_matches(given, by_case, n=_EQUALLY_CLOSE)
    return f"; did you mean {by_case[max(close, key=lambda other: _likeness(given, other))]}?" if close else ""


def _likeness(given: str, other: str) -> tuple[float, int]:
    letters = zip(given.translate(_LOOK_ALIKE), other.translate(_LOOK_ALIKE), strict=False)
    same_places = sum(one == another for one, another in letters)
    return difflib.SequenceMatcher(None, other, given).ratio(), same_places
