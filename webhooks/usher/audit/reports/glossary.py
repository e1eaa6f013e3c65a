"""The words of the report, each with its formula: what every number is linked to."""

from pathlib import Path
from typing import Final

import msgspec

from usher.audit.reports.html_elements import Html, Section, element, joined


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    meaning: str


WORDS: Final = msgspec.yaml.decode(Path(__file__).with_name("words.yaml").read_bytes(), type=dict[str, Word])
"""By the name that links use."""


def meaning(name: str) -> str:
    return WORDS[name].meaning


def link(name: str, label: str) -> Html:
    """A label that leads to its meaning, and shows it as a tooltip."""
    return element("a", label, href=f"#word-{name}", title=meaning(name))


def section() -> Section:
    entries = (
        element("div", element("dt", word.title, id=f"word-{name}"), element("dd", word.meaning))
        for name, word in WORDS.items()
    )
    return Section(
        name="words",
        title="Glossary",
        lead="docs/audit.md of gpu-usher has every formula with its sources.",
        body=joined(element("dl", *entries, class_="words")),
    )
