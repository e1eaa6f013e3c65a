"""The frame of a page: one file with its style and its program, and a policy that lets browsers load nothing else."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final

from msgspec import Struct

from usher.audit.reports.web.markup import Html, element, joined

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


def html(page: Page) -> Html:
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
    return resources.files("usher.audit.reports.web").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
