"""CONTRIBUTING.md: each folder and file that it names is there, it has all rooms, and a place for each new thing."""

import re
from collections.abc import Iterator
from typing import Final

import pytest

from unit.test_named_modules import PACKAGE, ROOT, rooms

PAGE: Final = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

ROOMS, PLACES = (rows.splitlines() for rows in re.findall(r"^\| --- \| --- \|\n((?:\|.*\n)+)", PAGE, re.MULTILINE))

THINGS: Final = (
    "kind",
    "check",
    "mutation",
    "metric",
    "report format",
    "Helm chart",
    "fabric",
    "accelerator vendor",
    "trace span",
    "section of an audit",
    "option of a command",
    "language server",
    "authority",
    "client certificate",
)
"""The twelve changes that a reader places right in one guess, and more."""


def named(text: str) -> Iterator[str]:
    """Folders and files in backticks, without what the reader chooses: of `kinds/FAMILY/` it is `kinds/`."""
    for word in re.findall(r"`([\w./-]*(?:/|\.py|\.md|\.yaml))`", text):
        yield re.sub(r"[A-Z]{3,}(?!.*\.md$).*", "", word)


def parts(row: str) -> list[str]:
    """The parts that the description of a room names."""
    return list(named(row.split("|")[2]))


@pytest.mark.parametrize("row", ROOMS, ids=lambda row: row.split("|")[1].strip())
def test_a_room_and_its_parts_are_there(row: str) -> None:
    tops = list(named(row.split("|")[1]))

    assert tops
    assert [top for top in tops if not (ROOT / top).is_dir()] == []
    assert [part for part in parts(row) if not any((ROOT / top / part).exists() for top in [*tops, ""])] == []


@pytest.mark.parametrize("row", PLACES, ids=lambda row: row.split("|")[1].strip())
def test_the_place_of_a_new_thing_is_there(row: str) -> None:
    places = list(named(row.split("|")[2]))

    assert places
    assert [place for place in places if not any((base / place).exists() for base in (ROOT, PACKAGE))] == []


def test_every_room_of_the_package_is_on_the_map() -> None:
    package = next(row for row in ROOMS if "`webhooks/usher/`" in row)

    assert sorted(part.removesuffix("/").removesuffix(".py") for part in parts(package)) == sorted(
        rooms() - {"__init__", "__main__", "__pycache__"}
    )


def test_the_page_answers_for_twelve_things_and_more() -> None:
    asked = " ".join(row.split("|")[1] for row in PLACES)

    assert [thing for thing in THINGS if thing not in asked] == []
