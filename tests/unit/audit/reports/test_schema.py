"""docs/audit.schema.json: it accepts what usher writes, and is the schema of this version."""

import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from builders import audit_documents as audits
from usher.audit.document import Audit
from usher.audit.reports import json_document

FILE: Final = Path(__file__).parents[4] / "docs/audit.schema.json"
SCHEMA: Final = json.loads(FILE.read_text(encoding="utf-8"))


def mistakes(document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def test_the_file_is_of_this_version() -> None:
    assert json_document.schema() == SCHEMA, "run scripts/generate"


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("audit", [audits.audit(), audits.full()])
def test_each_document_of_usher_fits_the_schema(audit: Audit) -> None:
    assert mistakes(json.loads(json_document.text(audit))) == []


def test_a_field_that_a_later_usher_adds_fits_too() -> None:
    assert mistakes(json.loads(json_document.text(audits.full())) | {"later": 1}) == []


def test_a_wrong_value_does_not_fit() -> None:
    document = json.loads(json_document.text(audits.full()))
    document["findings"][0]["severity"] = "awful"

    (mistake,) = mistakes(document)

    assert mistake.startswith("$.findings[0].severity")
