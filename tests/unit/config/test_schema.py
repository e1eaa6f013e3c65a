"""The schema of usher.yaml, from which editors and docs/configuration.md explain each field."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from usher.config import models

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


@cache
def sections() -> dict[str, dict[str, Any]]:
    schema = models.Config.model_json_schema()
    return {"Config": schema, **schema["$defs"]}


def test_every_field_of_every_section_has_a_description() -> None:
    undescribed = [
        f"{name}.{field}"
        for name, section in sections().items()
        for field, about in section.get("properties", {}).items()
        if not about.get("description", "").strip()
    ]

    assert undescribed == []


@pytest.mark.parametrize("name", [name for name, section in sections().items() if section.get("properties")])
def test_every_field_stands_on_the_page_of_usher_yaml(name: str) -> None:
    _, _, text = PAGE.read_text().partition(f"## {'The whole file' if name == 'Config' else name}\n")
    of_section = text.partition("\n## ")[0]

    assert [field for field in sections()[name]["properties"] if f"| `{field}` |" not in of_section] == []
