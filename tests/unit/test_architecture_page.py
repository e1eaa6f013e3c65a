"""docs/architecture.md names rooms and modules that exist, draws the ways with them, and knows every room."""

import re
from typing import Final

import pytest

from unit.test_named_modules import PACKAGE, ROOT, leads, rooms

PAGE: Final = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
DRAWINGS: Final = re.findall(r"^```\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
ROWS: Final = PAGE.partition("## The rooms")[2].partition("\n\nOutside")[0].splitlines()[6:]


def rooms_of(row: str) -> list[str]:
    """The rooms that a row of the table is about."""
    return re.findall(r"`(\w+)`", row.replace("\\|", "").split("|")[1])


def test_each_file_of_the_page_is_there() -> None:
    """The page leaves out the folders above a file."""
    named = set(re.findall(r"`([a-z][a-z_./-]+\.(?:py|rego|json))`", PAGE))
    bases = (PACKAGE, ROOT, ROOT / "policies/usher")

    assert {name for name in named if not any((base / name).is_file() for base in bases)} == set()
    assert len(named) > 20


@pytest.mark.parametrize("drawing", DRAWINGS, ids=[drawing.split()[0] for drawing in DRAWINGS])
def test_each_module_of_a_drawing_is_there(drawing: str) -> None:
    named = {name for name in re.findall(r"(?<![\w/.])([a-z]\w*(?:\.\w+)+)", drawing) if name.split(".")[0] in rooms()}

    assert {name for name in named if not leads(name)} == set()
    assert len(named) > 3


def test_each_folder_of_a_drawing_is_there() -> None:
    named = {re.sub("[A-Z]{2,}.*", "", path) for text in DRAWINGS for path in re.findall(r"\b[a-z_]+/[\w/]*", text)}

    assert {name for name in named if not (PACKAGE / name).is_dir()} == set()


def test_the_ways_of_a_review_a_check_and_an_audit_are_drawn() -> None:
    for title in ("### A review", "### A check", "### An audit"):
        assert "```" in PAGE.partition(title)[2].partition("\n##")[0]


def test_every_room_has_one_row() -> None:
    named = [room for row in ROWS for room in rooms_of(row)]

    assert sorted(named) == sorted(rooms() - {"__init__", "__main__", "__pycache__"})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(rooms_of(row)))
def test_each_part_of_a_room_is_there(row: str) -> None:
    parts = re.findall(r"`([\w/]+/|[\w/]+\.py)`", row)
    bases = [PACKAGE, *(PACKAGE / room for room in rooms_of(row))]

    assert [part for part in parts if not any((base / part).exists() for base in bases)] == []


def test_the_page_says_where_a_new_thing_goes_by_a_link() -> None:
    """One table, in CONTRIBUTING.md, so that the two pages cannot disagree."""
    assert "](../CONTRIBUTING.md#where-do-i-put-x)" in PAGE
    assert "| a new ... |" not in PAGE
