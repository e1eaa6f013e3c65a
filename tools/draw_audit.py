"""Makes the pictures of `usher audit --demo`: screenshots of its page, and a recording of a terminal.

Run it through scripts/pictures. It asks chromium for the screenshots, and writes the recording as an SVG whose lines
appear by themselves; without animation they are all there.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import draw_check
from rich.text import Text

ROOT: Final = Path(__file__).parents[1]
PICTURES: Final = ROOT / "docs/pictures"
COMMAND: Final = ("usher", "audit", "--demo")

LINES: Final = 34
"""How many lines of the output the recording shows."""

_BEFORE: Final = 1.2
"""Seconds before the first line of the output."""
_BETWEEN: Final = 0.06


class Shot(NamedTuple):
    """One screenshot: what it shows, in which theme."""

    name: str
    fragment: str
    theme: str
    size: tuple[int, int] = (1280, 860)


SHOTS: Final = (
    Shot(name="audit-light.png", fragment="", theme="light"),
    Shot(name="audit-dark.png", fragment="", theme="dark"),
    Shot(name="audit-findings-light.png", fragment="#findings", theme="light"),
    Shot(name="audit-findings-dark.png", fragment="#findings", theme="dark"),
    Shot(name="audit-usage.png", fragment="#usage", theme="light"),
    Shot(name="audit-narrow.png", fragment="", theme="light", size=(390, 860)),
)
RECORDING: Final = "audit.svg"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "demo.html"
        output = run("--color=always", "--format", "text", "--format", f"html={page}")
        (PICTURES / RECORDING).write_text(recording(excerpt(output)), encoding="utf-8")
        take(page, SHOTS)


def run(*options: str) -> str:
    """The output of the command on a colour terminal, escape sequences included."""
    # The environment of the caller must not change the picture.
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    environment["COLUMNS"] = str(draw_check.COLUMNS)
    return subprocess.run(
        [sys.executable, "-m", *COMMAND, *options],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def take(page: Path, shots: Sequence[Shot]) -> None:
    """Writes the screenshots of a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for shot in shots:
            width, height = shot.size
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if shot.theme == "dark" else "light",
                offline=True,
            )
            opened = context.new_page()
            opened.goto(page.as_uri() + shot.fragment)
            opened.wait_for_selector("html[data-ready]")
            opened.screenshot(path=PICTURES / shot.name)
            context.close()
        browser.close()


def excerpt(output: str) -> list[Text]:
    """The prompt, and the beginning of the output."""
    lines = [Text.from_ansi(line) for line in output.splitlines()[:LINES]]
    return [Text.assemble(("$ ", "dim"), " ".join(COMMAND)), *lines, Text("⋮", style="dim")]


def recording(lines: Sequence[Text]) -> str:
    """The lines as a terminal in which the output of the command appears line by line."""
    tops: dict[str, int] = {}

    def timed(start: re.Match[str]) -> str:
        return f'<text class="l{tops.setdefault(start[2], len(tops))}" {start[0].removeprefix("<text ")}'

    drawn = re.sub(r'<text (x="[\d.]+") y="(\d+)"', timed, draw_check.svg(lines, command=COMMAND))
    return drawn.replace("<rect", f"<style>{_style(len(tops))}</style>\n<rect", 1)


def _style(lines: int) -> str:
    """Lines appear one after the other. Who asks for less motion sees all of them at once."""
    delays = (0.0, *(_BEFORE + _BETWEEN * line for line in range(1, lines)))
    rules = "".join(f".l{line}{{animation-delay:{delay:.2f}s}}" for line, delay in enumerate(delays))
    return (
        "@keyframes appear{from{opacity:0}to{opacity:1}}"
        f"@media (prefers-reduced-motion:no-preference){{text{{animation:appear .15s both}}{rules}}}"
    )


if __name__ == "__main__":
    main()
