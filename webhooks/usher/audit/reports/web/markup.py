"""HTML elements. Texts are escaped here, in one place; only a value of `Html` goes into a page unchanged."""

import html
from typing import Final, TypeAlias

from usher.check.formats import wording

MOST: Final = 1_000
"""Characters of one text. Longer ones are cut, because a page is for people; other formats have all of it."""

_VOID: Final = frozenset({"link", "meta", "input", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "Html | str | None"
Attribute: TypeAlias = str | float | bool | None


def visible(text: str) -> str:
    """The text as a page shows it: bounded, with control and direction characters as visible escapes."""
    if len(text) > MOST:
        text = f"{text[:MOST]}… ({len(text):,} characters)"
    return wording.printable(text)


def escaped(child: Child) -> Html:
    if child is None:
        return Html()
    return child if isinstance(child, Html) else Html(html.escape(visible(child)))


def joined(*children: Child) -> Html:
    return Html("".join(map(escaped, children)))


def element(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` and `for_` stand for class and for, other underscores for hyphens; False leaves one out.

    A value of `Html` is taken unchanged: it has no quotes, and may be longer than a text.
    """
    start = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{start}>")
    return Html(f"<{name}{start}>{joined(*children)}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    if isinstance(value, Html):
        return f' {name}="{value}"'
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(visible(text))}"'
