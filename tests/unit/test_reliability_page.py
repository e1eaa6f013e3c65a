"""docs/reliability.md names tests that exist, and says of each slow one that it is slow."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
PAGE: Final = (TESTS.parent / "docs" / "reliability.md").read_text()
ROWS: Final = re.findall(r"^\| ([A-Z]\d\d) \|", PAGE, flags=re.MULTILINE)
REFERENCES: Final = sorted(set(re.findall(r"`([\w/]+\.py)(?:::(?:\w+::)?(\w+))?`", PAGE)))


@cache
def functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_row_of_the_list_is_there_once() -> None:
    lengths = {"C": 18, "F": 46, "I": 22, "B": 21, "E": 12, "L": 13, "A": 13}

    assert sorted(ROWS) == sorted(
        f"{part}{number:02}" for part, last in lengths.items() for number in range(1, last + 1)
    )


def test_each_named_test_exists() -> None:
    assert len(REFERENCES) > 100
    assert [file for file, _ in REFERENCES if not (TESTS / file).is_file()] == []
    assert [f"{file}::{name}" for file, name in REFERENCES if name and name not in functions(TESTS / file)] == []
