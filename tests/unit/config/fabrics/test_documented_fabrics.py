"""docs/fabrics.md documents every setting of every profile."""

import re
from pathlib import Path

import document_fabrics
import pytest
import yaml

from usher.config import models
from usher.config.fabrics import Fabric, shipped_fabrics

PAGE = Path(__file__).parents[4] / "docs" / "fabrics.md"
INTRODUCTION = "\n".join(document_fabrics.introduction())


def section(name: str) -> str:
    """The section of the page about one profile."""
    text = "\n".join(document_fabrics.profiles())
    return text.partition(f"\n### {name}\n")[2].partition("\n### ")[0]


def test_the_page_is_what_the_profiles_say() -> None:
    lines = (*document_fabrics.introduction(), *document_fabrics.profiles())

    assert PAGE.read_text(encoding="utf-8") == "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", shipped_fabrics())
def test_a_section_holds_all_that_a_profile_says(name: str) -> None:
    shipped = shipped_fabrics()[name]
    profile = shipped.profile
    said = [
        shipped.about,
        *(f'`{variable}: "{value}"`' for variable, value in profile.env.items()),
        *profile.needs,
        *(f"`{pattern}`: {reason}" for pattern, reason in profile.forbidden.items()),
        *profile.excepted,
        *shipped.add,
        *shipped.sources,
    ]

    text = section(name)

    assert [each for each in said if each not in text] == []
    assert ("IPC_LOCK`, if" in text) is profile.ipc_lock


def test_the_page_explains_every_key_of_a_profile() -> None:
    keys = {field.alias or name for name, field in Fabric.model_fields.items()}

    assert [key for key in sorted(keys) if f"`{key}`" not in INTRODUCTION] == []


def test_its_examples_of_a_configuration_are_ones() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", INTRODUCTION, re.DOTALL)
    values = [value for block in blocks for value in yaml.safe_load_all(block) if value.get("kind") != "ConfigMap"]

    assert len(values) == 5
    for value in values:
        models.Config.model_validate(value)
