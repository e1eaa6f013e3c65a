"""The section `roles` of usher.yaml: which rules can be meant, and how mistakes are named."""

from pathlib import Path
from typing import Any

import pydantic
import pytest

from usher import errors
from usher.config import models
from usher.config.load import load
from usher.config.sections import RoleRule


def test_a_rule_needs_a_condition_and_a_role() -> None:
    rule = RoleRule.model_validate({"commands": ["python -m trainer"], "role": "training"})

    assert rule.role == "training"
    assert (rule.namespaces, rule.kinds, rule.images, rule.labels) == ([], [], [], {})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"role": "training"}, "gives every workload the role training; set namespaces"),
        ({"namespaces": ["a"]}, "set either role or fromLabel"),
        ({"namespaces": ["a"], "role": "batch", "fromLabel": "team/role"}, "set either role or fromLabel"),
        ({"images": ["*"], "role": "batch"}, "the pattern matches everything"),
        ({"images": ["*/*:*"], "role": "batch"}, "the pattern matches everything"),
        ({"commands": ["a*b*c*d*e*f*g*h*i*j"], "role": "batch"}, "more than 8 \\*"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_in_words(value: dict[str, Any], reason: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=reason):
        RoleRule.model_validate(value)


@pytest.mark.parametrize(
    "value",
    [
        {"images": ["vllm[0-9]"], "role": "batch"},
        {"images": ["a b"], "role": "batch"},
        {"commands": ["two  spaces"], "role": "batch"},
        {"commands": ["new\nline"], "role": "batch"},
        {"labels": {"team": "a b"}, "role": "batch"},
    ],
)
def test_a_pattern_has_only_the_characters_of_its_field(value: dict[str, Any]) -> None:
    with pytest.raises(pydantic.ValidationError, match="should match pattern"):
        RoleRule.model_validate(value)


def test_a_misspelt_role_is_named_at_its_line_with_the_nearest_role(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    rules = "roles:\n  - namespaces: [a]\n    role: trainig\n  - namespaces: [b]\n    role: Inference\n"
    file.write_text(f"{rules}apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")
    with pytest.raises(errors.ConfigError) as caught:
        load(file)

    (first, second) = caught.value.problems
    assert first[:2] == (3, "roles[0].role")
    assert first[2].endswith("; did you mean training?")
    assert second[2].endswith("; did you mean inference?")


def test_a_word_that_is_near_no_role_is_only_refused(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text("roles:\n  - namespaces: [a]\n    role: zzzz\napiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")
    with pytest.raises(errors.ConfigError) as caught:
        load(file)

    assert "did you mean" not in caught.value.problems[0][2]


def test_every_field_of_the_section_has_a_description() -> None:
    schema = models.Config.model_json_schema(by_alias=True)

    assert schema["properties"]["roles"]["description"]
    assert all(field.get("description") for field in schema["$defs"]["RoleRule"]["properties"].values())
