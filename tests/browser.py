"""Debian's chromium, driven by playwright: pages from files, without a network."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

PROGRAM: Final = shutil.which("chromium")

# A busy machine takes many times the five seconds that are the default.
expect.set_options(timeout=30_000)

needed: Final = pytest.mark.skipif(
    PROGRAM is None, reason="chromium is not installed (Debian: apt-get install chromium)"
)


@contextmanager
def started() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # CI runs as root, where chromium's own sandbox does not start.
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


_pages: Final = WeakKeyDictionary[Browser, dict[str, Page]]()
"""Open pages by their settings."""


@dataclass(kw_only=True)
class Opened:
    """A page, with what it asked the network for and complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Browser, url: str, **settings: Any) -> Iterator[Opened]:
    """The page at an address, ready to use; it may load only itself, and complain of nothing."""
    wanted = {"viewport": {"width": 1280, "height": 900}, **settings}
    found = Opened(page=_empty_page(browser, wanted))
    heard: dict[str, Callable[[Any], None]] = {
        "request": lambda request: found.requests.append(request.url),
        "console": lambda message: found.complaints.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: found.complaints.append(str(error)),
        "dialog": lambda dialog: found.complaints.append(f"dialog: {dialog.message}"),
    }
    for event, listener in heard.items():
        found.page.on(event, listener)  # type: ignore[call-overload]  # one overload for each event
    try:
        found.page.goto(url)
        if settings.get("java_script_enabled", True):
            found.page.wait_for_selector("html[data-ready]")
        yield found
        assert found.complaints == []
        assert {each.partition("#")[0] for each in found.requests} == {url.partition("#")[0]}
    finally:
        for event, listener in heard.items():
            found.page.remove_listener(event, listener)


def _empty_page(browser: Browser, settings: dict[str, Any]) -> Page:
    """A page with these settings: one for all tests, because a new one takes as long as what it shows."""
    pages = _pages.setdefault(browser, {})
    key = repr(sorted(settings.items()))
    if key not in pages:
        pages[key] = browser.new_context(**settings).new_page()
    pages[key].set_viewport_size(settings["viewport"])
    pages[key].emulate_media(media="null")
    pages[key].goto("about:blank")
    return pages[key]


def file_url(file: Path, fragment: str = "") -> str:
    return file.resolve().as_uri() + fragment
