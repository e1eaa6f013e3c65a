"""Prints docs/pictures/check.svg: the beginning and the end of the output of `usher check` for the bad example.

Run it through scripts/generate. The picture names no font file and no address but the SVG namespace, so it looks the
same offline and in any README viewer.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT: Final = Path(__file__).parents[1]
COMMAND: Final = ("usher", "check", "examples/bad-pytorchjob.yaml")

COLUMNS: Final = 96
FINDINGS: Final = 3
"""How many findings the picture shows before it leaves lines out."""

_FONT_SIZE: Final = 14
_COLUMN: Final = 8.4
_ROW: Final = 20
_MARGIN: Final = 20

_TEXT: Final = "#d0d7de"
_DIM: Final = "#8b949e"
_BACKGROUND: Final = "#0d1117"
_THEME: Final = TerminalTheme(
    (13, 17, 23),
    (208, 215, 222),
    [(72, 79, 88), (255, 123, 114), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255), (86, 212, 221)],
)


def main() -> None:
    print(svg(excerpt(terminal_output())), end="")


def terminal_output() -> str:
    """The output of the command on a colour terminal, escape sequences included."""
    # The environment of the caller must not change the picture.
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "COLUMNS": str(COLUMNS)}
    return subprocess.run(
        [sys.executable, "-m", *COMMAND, "--color=always"],
        cwd=ROOT,
        env=environment,
        check=False,  # the example breaks rules, so the exit code is 1
        capture_output=True,
        text=True,
    ).stdout


def excerpt(output: str) -> list[Text]:
    """The prompt, the first findings, a mark for the lines left out, and the last line."""
    lines = [Text.from_ansi(line) for line in output.splitlines()]
    starts = [number for number, line in enumerate(lines) if re.match(r"\s+\d+:\d+\s", line.plain)]
    if len(starts) <= FINDINGS:
        raise SystemExit(f"tools/draw_check.py: {' '.join(COMMAND)} shows {len(starts)} findings, needs {FINDINGS + 1}")
    prompt = Text.assemble(("$ ", "dim"), " ".join(COMMAND))
    return [prompt, *lines[: starts[FINDINGS]], Text("  ⋮", style="dim"), lines[-1]]


def svg(lines: Sequence[Text], *, command: Sequence[str] = COMMAND) -> str:
    """A terminal with these lines of a command, as a picture for web pages."""
    width = round(COLUMNS * _COLUMN) + 2 * _MARGIN
    height = len(lines) * _ROW + 2 * _MARGIN
    title = escape(" ".join(command))
    rows = "\n".join(row for number, line in enumerate(lines) for row in _row(line, number))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>Output of {title}</title>
<rect width="{width}" height="{height}" rx="8" fill="{_BACKGROUND}"/>
<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="{_FONT_SIZE}" fill="{_TEXT}">
{rows}
</g>
</svg>
"""


def _row(line: Text, number: int) -> Iterator[str]:
    """One element for each stretch of one style, placed by column: viewers drop spaces at its ends."""
    console = Console(width=COLUMNS, color_system="standard", force_terminal=True)
    y = _MARGIN + number * _ROW + _FONT_SIZE
    column = 0
    for segment in line.render(console):
        text = segment.text.strip(" ")
        if text:
            x = _MARGIN + (column + len(segment.text) - len(segment.text.lstrip(" "))) * _COLUMN
            place = f'x="{x:.1f}" y="{y}" textLength="{len(text) * _COLUMN:.1f}"'
            yield f'<text {place}{_look(segment.style)} xml:space="preserve">{escape(text, quote=False)}</text>'
        column += len(segment.text)


def _look(style: Style | None) -> str:
    look = ' font-weight="bold"' if style and style.bold else ""
    if style and style.color and not style.color.is_default:
        return f'{look} fill="{style.color.get_truecolor(_THEME).hex}"'
    return f'{look} fill="{_DIM}"' if style and style.dim else look


if __name__ == "__main__":
    main()
