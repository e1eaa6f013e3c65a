"""HTML elements, which escape texts in one place, and the frame of a page: one file that loads nothing else."""

import base64
import hashlib
import html
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final, TypeAlias

from msgspec import Struct

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


_ICON: Final = "data:,"
"""Browsers ask the server for an icon unless a page has one."""


class Section(Struct, frozen=True, kw_only=True):
    name: str
    """The fragment that leads to it."""
    title: str
    body: Html
    lead: Html | str = ""
    """A sentence or two about the content."""
    count: int | None = None
    """How many entries it has; None where that says nothing."""


class Page(Struct, frozen=True, kw_only=True):
    title: str
    heading: str
    facts: Sequence[str]
    """Where and when it comes from, one short text each."""
    first: Html
    """The first screen, before all sections."""
    sections: Sequence[Section]
    notices: Sequence[Html | str] = ()
    """Warnings that a reader has to see before anything else."""


def page_html(page: Page) -> Html:
    """The whole file."""
    style, program = _asset("page.css"), _asset("page.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content="gpu-usher"),
        element("link", rel="icon", href=_ICON),
        element("title", page.title),
        Html(f"<style>{style}</style>"),
    )
    body = element(
        "body",
        element("a", "Skip to the report", href="#report", class_="skip"),
        _header(page),
        _navigation(page.sections),
        element("main", *_notices(page.notices), page.first, *map(_section, page.sections), id="report", tabindex="-1"),
        Html(f"<script>{program}</script>"),
    )
    return Html(f"<!doctype html>\n{element('html', head, body, lang='en')}\n")


def policy() -> str:
    """The Content-Security-Policy: this style and this program, and no other, and no network."""
    nothing, data = "'none'", "data:"
    rules = {
        "default-src": nothing,
        "style-src": _digest(_asset("page.css")),
        "script-src": _digest(_asset("page.js")),
        "img-src": data,
        "base-uri": nothing,
        "form-action": nothing,
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _header(page: Page) -> Html:
    return element(
        "header",
        element("div", element("p", "gpu-usher audit", class_="brand"), element("h1", page.heading)),
        element("ul", *(element("li", fact) for fact in page.facts if fact), class_="facts"),
        element("button", "Theme", type="button", id="theme", hidden=True),
    )


def _navigation(sections: Sequence[Section]) -> Html:
    entries = (
        element("li", element("a", each.title, _count(each), href=f"#{each.name}")) for each in sections if each.body
    )
    return element("nav", element("ul", *entries), class_="sections", aria_label="Sections")


def _notices(notices: Sequence[Html | str]) -> list[Html]:
    return [element("p", each, class_="notice", role="note") for each in notices]


def _section(section: Section) -> Html:
    return element(
        "section",
        element("h2", section.title, _count(section), id=f"{section.name}-title"),
        element("p", section.lead, class_="lead") if section.lead else None,
        section.body,
        id=section.name,
        aria_labelledby=f"{section.name}-title",
    )


def _count(section: Section) -> Html | None:
    return None if section.count is None else joined(" ", element("span", f"{section.count:,}", class_="count"))


@cache
def _asset(name: str) -> str:
    return resources.files("usher.audit.reports").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
