"""`usher config schema`: the schema that editors use says the same of a file as usher itself."""

import json
import re
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from integration.command import config, usher
from usher.config import load

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
FILES: Final = sorted(
    file
    for folder in ("examples", "policies", "tests/e2e")
    for file in (ROOT / folder).rglob("*.yaml")
    if b"kind: Config\n" in (content := file.read_bytes()) and b"gpu-usher.io/v1alpha1" in content
)


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    printed = usher("config", "schema").json
    jsonschema.Draft202012Validator.check_schema(printed)
    return jsonschema.Draft202012Validator(printed)


def mistakes(schema: jsonschema.Draft202012Validator, document: object) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in schema.iter_errors(document)]


def test_the_repository_has_files_of_every_kind_of_site() -> None:
    assert len(FILES) > 50
    assert {ROOT / "examples/usher.yaml", *(ROOT / "examples/sites").glob("*.yaml")} <= set(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_editor_finds_no_mistake_in_a_good_file(schema: jsonschema.Draft202012Validator, file: Path) -> None:
    documents = [each for each in yaml.safe_load_all(file.read_text()) if each.get("kind") == "Config"]

    assert [each for document in documents for each in mistakes(schema, document)] == []


@pytest.mark.parametrize(
    "sections",
    [
        {"pool": []},
        {"pools": {}},
        {"pools": [{"name": 1}]},
        {"enforcement": {"preset": "harsh"}},
        {"enforcement": {"rules": [{"check": "gpu-requests-equal-limits", "action": "ignore"}]}},
        {"queues": [{"names": "a"}]},
    ],
)
def test_an_editor_finds_the_mistakes_that_usher_finds(
    schema: jsonschema.Draft202012Validator, tmp_path: Path, sections: dict[str, Any]
) -> None:
    file = config(tmp_path / "usher.yaml", **sections)

    assert usher("config", "check", file).code == 2
    assert mistakes(schema, yaml.safe_load(file.read_text())) != []


def test_the_file_in_the_documentation_is_the_printed_schema() -> None:
    assert (ROOT / "docs/usher.schema.json").read_text() == usher("config", "schema").out


def test_the_first_line_for_editors_names_the_schema_and_is_good_for_usher(tmp_path: Path) -> None:
    block = re.findall(r"```yaml\n(# yaml-language-server:.*?)```", PAGE, re.DOTALL)[0]
    (tmp_path / "usher.yaml").write_text(block)

    (named,) = re.findall(r"^# yaml-language-server: \$schema=(\S+)$", block, re.MULTILINE)
    assert (ROOT / "docs" / named).is_file()
    load.load(tmp_path / "usher.yaml")


def test_the_settings_for_vs_code_join_the_schema_to_the_names_of_the_file() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    ((schema, files),) = json.loads(block)["yaml.schemas"].items()
    assert Path(schema).name == "usher.schema.json"
    assert "usher.yaml" in files
    assert f"usher config schema >{schema.removeprefix('./')}" in PAGE
