"""Text in Markdown of GitHub and GitLab that stays text, even if its author means harm.

Names come from manifests and file names. They must not become markup, links, mentions of people, references to issues,
or the commands of a bot.
"""

import re
import string
from typing import Final

from usher.reports import wording

_PUNCTUATION: Final = re.compile(f"([{re.escape(string.punctuation)}])")
_BREAK: Final = "\u200b"
"""A space without width: it ends what would be a mention, a reference or an address, and people do not see it."""
_REFERENCE: Final = re.compile(r"@|[#!$&%](?=\d)|(?<=GH)-(?=\d)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_BACKTICKS: Final = re.compile(r"`+")


def prose(text: str) -> str:
    """A text between other text; readers see every character of it."""
    plain = _REFERENCE.sub(lambda match: match.group() + _BREAK, wording.printable(text))
    plain = _ADDRESS.sub(_BREAK, plain)
    return _PUNCTUATION.sub(r"\\\1", plain)


def code(text: str) -> str:
    """A name in a span of code, in which neither mentions nor references are looked for."""
    plain = wording.printable(text) or " "
    longest = max((len(found) for found in _BACKTICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    # CommonMark takes one space from both ends, unless the span holds only spaces.
    edge = " " if plain[0] in "` " or plain[-1] in "` " else ""
    return f"{fence}{edge}{plain}{edge}{fence}"


def block(text: str) -> str:
    """Lines of text in a block of code; `text` keeps its line ends, and is escaped otherwise."""
    lines = [wording.printable(line) for line in text.split("\n")]
    longest = max((len(found) for line in lines for found in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return "\n".join([f"{fence}text", *lines, fence])
