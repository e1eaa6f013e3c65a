"""Debian's chromium, driven by playwright: pages from files, without a network."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

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


@dataclass(kw_only=True)
class Opened:
    """A page, with what it asked the network for and complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Browser, url: str, **settings: Any) -> Iterator[Opened]:
    """The page at an address, ready to use; it may load only itself, and complain of nothing."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
    found = Opened(page=context.new_page())
    context.on("request", lambda request: found.requests.append(request.url))
    found.page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("dialog", lambda dialog: found.complaints.append(f"dialog: {dialog.message}"))
    try:
        found.page.goto(url)
        if settings.get("java_script_enabled", True):
            found.page.wait_for_selector("html[data-ready]")
        yield found
        assert found.complaints == []
        assert {each.partition("#")[0] for each in found.requests} == {url.partition("#")[0]}
    finally:
        context.close()


def file_url(file: Path, fragment: str = "") -> str:
    return file.resolve().as_uri() + fragment
