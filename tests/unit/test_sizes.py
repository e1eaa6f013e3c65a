"""No module is so long that it holds more than one subject."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("folder", "most"), [("webhooks/usher", 600), ("tests", 400)])
def test_no_python_module_has_more_lines_than_its_folder_allows(folder: str, most: int) -> None:
    lines = {
        str(file.relative_to(ROOT)): len(file.read_text().splitlines())
        for file in sorted((ROOT / folder).rglob("*.py"))
    }

    assert {file: length for file, length in lines.items() if length > most} == {}
