"""Prose on a terminal."""

import shutil
import textwrap
from collections.abc import Iterator
from typing import Final

_WIDTH: Final = 100
"""Columns at most."""


def paragraphs(text: str) -> Iterator[str]:
    """The lines of a text whose paragraphs are divided by empty lines."""
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 0)).columns)
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), width, break_long_words=False, break_on_hyphens=False)
