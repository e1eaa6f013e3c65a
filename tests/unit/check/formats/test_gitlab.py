"""Code Quality of GitLab: what its documentation asks for, and fingerprints that tell issues apart."""

import json
from typing import Any, Final

import jsonschema
from hypothesis import given
from msgspec.structs import replace

from unit.check.formats import hostile, made
from unit.check.formats.hostile import ended, written
from usher.check import findings
from usher.check.formats import annotations
from usher.policy.checks import catalogue

SCHEMA: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "not": {"pattern": "^\\./"}},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""The fields that docs.gitlab.com/ci/testing/code_quality names."""


def issues(found: findings.Report) -> list[dict[str, Any]]:
    document = json.loads(written(annotations.write_gitlab, found))
    jsonschema.validate(document, SCHEMA)
    assert isinstance(document, list)
    assert len({issue["fingerprint"] for issue in document}) == len(document)
    return document


@given(text=hostile.hostile_text)
def test_hostile_names_keep_it_valid(text: str) -> None:
    assert all(issue["description"].isprintable() for issue in issues(ended(hostile.report(text))))


def test_the_worst_issues_come_first_each_with_its_severity() -> None:
    assert [(issue["check_name"], issue["severity"]) for issue in issues(made.full())] == [
        ("cannot be read", "blocker"),
        ("not judged", "blocker"),
        ("USH103 gpu-requests-equal-limits", "critical"),
        ("USH103 gpu-requests-equal-limits", "critical"),
        ("USH301 gpu-toleration-present", "minor"),
        ("USH621 class-unknown", "minor"),
        ("unknown to usher", "major"),
        ("USH901 team-label", "info"),
    ]


def test_a_denial_by_a_critical_check_is_a_blocker() -> None:
    found = made.made(made.result(made.finding()))
    known = replace(found, rules=dict(catalogue.load().catalogue.checks))

    assert [issue["severity"] for issue in issues(known)] == ["blocker"]


def test_a_path_is_as_git_has_it() -> None:
    (issue,) = issues(made.made(made.result(made.finding(), source="./jobs//bert.yaml")))

    assert issue["location"] == {"path": "jobs/bert.yaml", "lines": {"begin": 41, "end": 41}}


def test_a_moved_line_keeps_its_fingerprint() -> None:
    moved = made.finding(at=made.place(99, "x", "x"))

    before, after = (issues(made.made(made.result(each)))[0]["fingerprint"] for each in (made.finding(), moved))
    assert before == after


def test_a_clean_run_is_an_empty_list() -> None:
    assert issues(made.made(made.result())) == []
