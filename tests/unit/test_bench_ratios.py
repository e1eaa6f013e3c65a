"""A nightly run compares the ratios to peers with those that docs/benchmarks.md has."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "sections.py"
TABLE = """
| pods | usher | seconds | of conftest | of its processor seconds |
| --- | --- | ---: | ---: | ---: |
| 1,000 files | no cache | 1.00 | 1.00 | {files:.2f} |
| one file | no cache | 1.00 | 9.00 | {one:.2f} |

| other | of conftest |
| --- | ---: |
| a | 3.00 |
"""


@pytest.fixture(scope="module")
def worse() -> Callable[[str, str, str], Iterator[str]]:
    spec = importlib.util.spec_from_file_location("bench_sections", FILE)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[str, str, str], Iterator[str]] = module.worse
    return found


def test_a_ratio_may_grow_by_a_tenth(worse: Callable[[str, str, str], Iterator[str]]) -> None:
    recorded = TABLE.format(files=1, one=0.5)

    assert list(worse(recorded, TABLE.format(files=1.1, one=0.4), "of its processor seconds")) == []
    assert list(worse(recorded, TABLE.format(files=1.12, one=0.5), "of its processor seconds")) == [
        "1,000 files, no cache: 1.12 of its processor seconds, and 1.00 was recorded"
    ]


def test_a_row_that_is_not_recorded_fails(worse: Callable[[str, str, str], Iterator[str]]) -> None:
    measured = TABLE.format(files=1, one=1)

    assert list(worse(measured.replace("| one file", "| two files"), measured, "of its processor seconds")) == [
        "one file, no cache: no ratio is recorded; run with --write"
    ]
    assert list(worse("", "", "of conftest")) == ["no ratio is recorded in a column 'of conftest'"]


def test_a_cell_without_a_ratio_is_left_out(worse: Callable[[str, str, str], Iterator[str]]) -> None:
    text = "| pods | path | Gatekeeper | usher |\n| --- | --- | ---: | ---: |\n| a | /mutate |  | 1.00 |\n"

    assert list(worse(text, text, "usher")) == []
    assert list(worse(text, text.replace("1.00", "1.20"), "usher")) == ["a, /mutate: 1.20 usher, and 1.00 was recorded"]
    assert list(worse(text, text, "Gatekeeper")) == ["no ratio is recorded in a column 'Gatekeeper'"]


def test_a_row_of_another_table_may_name_a_column(worse: Callable[[str, str, str], Iterator[str]]) -> None:
    text = "| pods | path | usher |\n| --- | --- | ---: |\n| a | /mutate | 1.00 |\n"
    other = "\n| pods | server | parts |\n| --- | --- | --- |\n| a | usher | few |\n| b | usher | many |\n"

    assert list(worse(text, text + other, "usher")) == []
