"""Escapes text for the Markdown of GitHub and GitLab, so that it stays text even if its author means harm.

Names come from manifests and file names. They must not become markup, links, mentions of people, references to issues,
or the commands of a bot.
"""

import re
from typing import Final

from usher.reports import wording

_MARKUP: Final = re.compile(r"([\\`*_\[\]<>|~&$])")
"""Characters with a meaning within a line."""
_BLOCK: Final = re.compile(r"^(\d{1,9})?([#+=.)-])")
"""Patterns with a meaning at the start of a line: a heading, an underline, a list."""
_BREAK: Final = "\u200b"
"""A zero-width space: it breaks mentions, references and addresses, and people do not see it."""
_REFERENCE: Final = re.compile(r"@|[#!$&%](?=\d)|(?<=GH)-(?=\d)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_BACKTICKS: Final = re.compile(r"`+")


def prose(text: str) -> str:
    """A text within other text; readers see each of its characters."""
    # Spaces at an edge would make an indented block or a line break.
    plain = wording.printable(text).strip() or "(empty)"
    plain = _REFERENCE.sub(lambda match: match.group() + _BREAK, plain)
    plain = _ADDRESS.sub(_BREAK, plain)
    return _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", plain))


def code(text: str) -> str:
    """A name as a code span, in which GitHub and GitLab find no mentions or references."""
    plain = wording.without_commands(wording.printable(text)) or " "
    longest = max((len(found) for found in _BACKTICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    # CommonMark removes one space from both ends, unless the span holds only spaces.
    edge = " " if plain.strip(" ") and (plain[0] in "` " or plain[-1] in "` ") else ""
    return f"{fence}{edge}{plain}{edge}{fence}"
