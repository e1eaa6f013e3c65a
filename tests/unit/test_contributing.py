"""The map of rooms in CONTRIBUTING.md: every folder and file that it names is there, and every room is on it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "webhooks/usher"
PAGE: Final = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

TOP, FLOORS, PLACES = (
    rows.splitlines() for rows in re.findall(r"^\| --- \| --- \|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
)

TEN: Final = (
    "kind",
    "check",
    "mutation",
    "metric",
    "report format",
    "Helm chart",
    "fabric",
    "accelerator vendor",
    "trace span",
    "client certificate",
)


def named(text: str) -> Iterator[str]:
    """Folders and files in backticks, without what the reader chooses: of `kinds/FAMILY/` it is `kinds/`."""
    for word in re.findall(r"`([\w./-]*(?:/|\.py))`", text):
        yield re.sub(r"[A-Z]{3,}.*", "", word)


def rooms(rows: list[str]) -> list[str]:
    """What the first column names."""
    return [name for row in rows for name in named(row.split("|")[1])]


def parts(rows: list[str]) -> list[tuple[str, str]]:
    """Each room with each folder or file that its description names."""
    return [(next(named(row)), part) for row in rows for part in named(row.split("|")[2])]


@pytest.mark.parametrize("room", rooms(TOP))
def test_a_room_at_the_top_is_there(room: str) -> None:
    assert (ROOT / room).is_dir()


@pytest.mark.parametrize("room", rooms(FLOORS))
def test_a_room_of_the_package_is_there(room: str) -> None:
    assert (PACKAGE / room).exists()


@pytest.mark.parametrize(("room", "part"), parts(TOP) + parts(FLOORS))
def test_a_part_of_a_room_is_there(room: str, part: str) -> None:
    assert any(place.exists() for place in (ROOT / room / part, PACKAGE / room / part, ROOT / part))


@pytest.mark.parametrize("place", sorted({name for row in PLACES for name in named(row)}))
def test_the_place_of_a_new_thing_is_there(place: str) -> None:
    assert (ROOT / place).exists() or (PACKAGE / place).exists()


def test_every_room_of_the_package_is_on_the_map() -> None:
    there = {path.name for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}

    assert {room.rstrip("/") for room in rooms(FLOORS)} == there - {"__init__.py", "__main__.py", "__pycache__"}


def test_the_page_answers_for_ten_things_and_more() -> None:
    asked = " ".join(row.split("|")[1] for row in PLACES)

    assert [thing for thing in TEN if thing not in asked] == []
