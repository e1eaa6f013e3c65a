"""Values that usher writes into YAML are read back as the same values, whatever they hold."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from usher.install import discovered_file

AWKWARD = [
    "yes",
    "No",
    "null",
    "~",
    "",
    "1e3",
    "0x1F",
    "1_000",
    "12:30",
    "a: b",
    "a #b",
    "- a",
    "*",
    "&a",
    "!t",
    "{",
    "é",
]


@pytest.mark.parametrize("text", [*AWKWARD, "nvidia.com/gpu", "1024Gi", "research-*", "2026-01-01", ".inf", "="])
def test_a_text_stays_this_text(text: str) -> None:
    assert yaml.safe_load(discovered_file.yaml_scalar(text)) == text
    assert yaml.safe_load(discovered_file.yaml_flow({text: [text]})) == {text: [text]}


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_any_text_stays_this_text_on_one_line_of_ascii(text: str) -> None:
    written = discovered_file.yaml_flow([text])

    assert written.isascii()
    assert written.isprintable()
    assert yaml.safe_load(written) == [text]


def test_numbers_and_truth_stay_what_they_are() -> None:
    assert yaml.safe_load(discovered_file.yaml_flow({"a": 8, "b": True, "c": {"d": False}})) == {
        "a": 8,
        "b": True,
        "c": {"d": False},
    }


def test_a_name_in_a_comment_ends_no_line_and_does_not_go_on_for_ever() -> None:
    assert discovered_file.name_in_comment("a\nb\u202e") == "a\\u000ab\\u202e"
    assert len(discovered_file.name_in_comment("x" * 5000)) < 120
