"""docs/ci.md and docs/audit.md: they name every format; tables of docs/ci.md have the exit codes of the code."""

import re
from pathlib import Path
from typing import Final

from usher.check.formats import markdown
from usher.cli import main, output

DOCS: Final = Path(__file__).parents[4] / "docs"
PAGE: Final = (DOCS / "ci.md").read_text(encoding="utf-8")
AUDIT_PAGE: Final = (DOCS / "audit.md").read_text(encoding="utf-8")


def rows(section: str, *, page: str = PAGE) -> dict[str, list[str]]:
    """The rows of the tables of a section whose first cell is a word in backticks, by that word."""
    text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    cells = (re.findall(r"[^|]+", line) for line in text.splitlines() if line.startswith("| `"))
    return {first.strip(" `"): [cell.strip() for cell in rest] for first, *rest in cells if "--" not in first}


def test_every_format_has_a_row() -> None:
    assert set(rows("Formats")) == set(output.format_names(audits=False))


def test_every_format_of_audit_documents_has_a_row() -> None:
    assert set(rows("Formats", page=AUDIT_PAGE)) == {name for name, each in output.FORMATS.items() if each.audit}


def test_every_profile_of_exit_codes_has_its_numbers() -> None:
    assert rows("Exit codes") == {
        name: [str(code) for code in (each.denied, each.denied_with_milder, each.milder, each.failed)]
        for name, each in main.PROFILES.items()
    }


def test_the_marker_for_bots_is_the_one_that_usher_writes() -> None:
    assert f"`{markdown.MARKER}`" in PAGE
