"""Parameters of constraints against the schema of their template."""

from typing import Any

import pytest

from usher.extensions.gatekeeper import constraints

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["labels"],
    "properties": {
        "labels": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"key": {"type": "string", "pattern": "^[a-z]+$"}}},
        },
        "most": {"type": "integer", "minimum": 1, "maximum": 9},
        "rule": {"type": "string", "enum": ["All", "Some"]},
        "port": {"x-kubernetes-int-or-string": True},
        "any": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "note": {"type": "string", "nullable": True, "maxLength": 3},
        "one": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "some": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "every": {"allOf": [{"minimum": 2}, {"maximum": 3}]},
        "never": {"not": {"enum": ["x"]}},
    },
}
LABELS: dict[str, Any] = {"labels": [{"key": "team"}]}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"most": 9},
        {"most": 3.0},
        {"rule": "All"},
        {"port": 80},
        {"port": "http"},
        {"any": {"a": True}},
        {"note": None},
        {"one": "a", "some": 1, "every": 2, "never": "y"},
        {"unknown": "fields are pruned, not refused"},
    ],
)
def test_parameters_that_fit_have_no_problem(value: dict[str, Any]) -> None:
    assert constraints.parameter_problem({**LABELS, **value}, SCHEMA) == ""


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"labels": None}, "spec.parameters.labels: must be a list, and is null"),
        ({"labels": []}, "spec.parameters.labels: must have 1 items or more"),
        ({"labels": ["team"]}, "spec.parameters.labels[0]: must be a mapping, and is a text"),
        ({"labels": [{"key": "Team"}]}, "spec.parameters.labels[0].key: must match ^[a-z]+$"),
        ({"most": "3"}, "spec.parameters.most: must be a whole number, and is a text"),
        ({"most": True}, "spec.parameters.most: must be a whole number, and is true or false"),
        ({"most": 1.5}, "spec.parameters.most: must be a whole number, and is a number"),
        ({"most": 0}, "spec.parameters.most: must be 1 or more"),
        ({"most": 10}, "spec.parameters.most: must be 9 or less"),
        ({"rule": "Other"}, "spec.parameters.rule: must be one of All, Some"),
        ({"port": True}, "spec.parameters.port: must be a whole number or a text, and is true or false"),
        ({"any": {"a": 1}}, "spec.parameters.any.a: must be true or false, and is a number"),
        ({"note": "long"}, "spec.parameters.note: must have 3 characters or fewer"),
        ({"one": True}, "spec.parameters.one: must fit one schema of oneOf, and fits 0"),
        ({"some": True}, "spec.parameters.some: fits no schema of anyOf"),
        ({"every": 4}, "spec.parameters.every: does not fit every schema of allOf"),
        ({"never": "x"}, "spec.parameters.never: fits the schema of not"),
    ],
)
def test_the_first_problem_names_the_field(value: dict[str, Any], problem: str) -> None:
    assert constraints.parameter_problem({**LABELS, **value}, SCHEMA) == problem


def test_defaults_stand_in_for_missing_fields_at_every_level() -> None:
    inner = {"type": "object", "properties": {"most": {"default": 3}, "least": {"default": 1}}}
    schema: dict[str, Any] = {
        "properties": {
            "rule": {"default": "All"},
            "limits": {"default": {}, **inner},
            "list": {"items": inner},
            "null": {"default": 5},
            "kept": {"default": 5, "nullable": True},
        },
        "additionalProperties": inner,
    }

    assert constraints.with_defaults({"list": [{"most": 9}], "null": None, "kept": None, "more": {}}, schema) == {
        "rule": "All",
        "limits": {"most": 3, "least": 1},
        "list": [{"most": 9, "least": 1}],
        "null": 5,
        "kept": None,
        "more": {"most": 3, "least": 1},
    }


def test_a_missing_field_is_a_problem_where_it_is_required() -> None:
    assert constraints.parameter_problem({}, SCHEMA) == "spec.parameters.labels: is missing"


@pytest.mark.parametrize("schema", [None, "text", {"type": "strange"}, {"pattern": "("}, {"enum": "x"}])
def test_a_schema_that_is_wrong_refuses_nothing(schema: Any) -> None:
    assert constraints.parameter_problem("anything", schema) == ""


def test_a_schema_without_end_is_read_to_a_depth() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    value: Any = []
    for _ in range(500):
        value = [value]

    assert constraints.parameter_problem(value, schema) == ""
