"""YAML: the document of the JSON report."""

import io
import json

import pytest
import yaml
from hypothesis import given

from unit.check.formats import hostile, made
from usher.check import findings
from usher.check.formats import json_report


def both(found: findings.Report) -> tuple[object, object]:
    as_json, as_yaml = io.StringIO(), io.StringIO()
    json_report.write(found, as_json)
    json_report.write_yaml(found, as_yaml)
    return json.loads(as_json.getvalue()), yaml.safe_load(as_yaml.getvalue())


@pytest.mark.parametrize("found", [made.full(), made.changed(diff=True), made.made()])
def test_it_is_the_document_of_the_json_report(found: findings.Report) -> None:
    as_json, as_yaml = both(found)

    assert as_json == as_yaml


@given(text=hostile.hostile_text.filter(lambda text: "\ud800" not in text))
def test_hostile_names_come_back_as_they_were(text: str) -> None:
    """A manifest cannot hold half of a surrogate pair, so a report does not."""
    as_json, as_yaml = both(hostile.report(text))

    assert as_json == as_yaml
