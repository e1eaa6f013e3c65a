"""The words of rows: an object without any of them does not meet the row, so its patterns need not be asked."""

import re
from collections.abc import Iterator
from typing import Any

import compile_tables
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import generated_examples
from usher.kinds.reading import known_keys, refused_values


def patterns() -> Iterator[str]:
    for part in ("values", "beside"):
        for row in known_keys.rows(part):
            yield from filter(None, (row.get("pattern"), *row.get("only", {}).values()))


@settings(max_examples=generated_examples.up_to(300), deadline=None)
@given(data=st.data())
def test_each_text_that_a_pattern_finds_has_a_word_of_each_group(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(sorted(set(patterns()))))
    text = data.draw(st.from_regex(pattern, alphabet=st.characters(max_codepoint=127)))

    written = orjson.dumps(text).decode().lower()
    for group in compile_tables.words_of_pattern(pattern):
        assert any(word in written for word in group)


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("^(nvidia/cuda(?::latest)?)$", [{'"nvidia/cuda'}]),
        ("(?i)vLLM|sglang", [{"vllm", "sglang"}]),
        ("(?:abcd|ef)?(ghij)+", [{"ghij"}]),
        ("^(?:abc:)?(defg|hijk)", [{"defg", "hijk"}]),
        ("^(defg|hijk)", [{'"defg', '"hijk'}]),
        ("(?m)^defg", [{"defg"}]),
        ("(?i)^true$", [{"true"}]),
        (r"a\\nbcde", []),
        ("(?!abcd)(?=efgh)[a-z]{4}", []),
        ("abcd|[0-9]", []),
    ],
)
def test_the_words_of_a_pattern(pattern: str, groups: list[set[str]]) -> None:
    assert list(compile_tables.words_of_pattern(pattern)) == groups


def row(**given: Any) -> Any:
    return compile_tables.with_words(
        {"kinds": ["pods"], "at": "spec.x", "text": "is {word}", "remedy": "remove it", **given}
    )


def test_a_rare_key_is_a_word() -> None:
    assert row(only={"spec.containers[].{lifecycle.preStop,lifecycle.postStart}": "."})["words"] == ["lifecycle"]


def test_a_row_about_texts_inside_a_text_has_no_words() -> None:
    assert "words" not in row(at="data.*~.kind", pattern="^Abcdef$")


def test_most_rows_are_left_out_for_a_plain_pod() -> None:
    limits: Any = {"nvidia.com/gpu": 1}
    container: Any = {"name": "main", "image": "registry.example.com/train:1", "resources": {"limits": limits}}
    rows = refused_values._wrong_rows("pods")

    assert len(refused_values._possible_rows(rows, {"spec": {"containers": [container]}})) < len(rows) / 4


def test_no_word_is_shorter_than_a_name_or_has_other_letters_than_json_and_python_share() -> None:
    for part in ("values", "beside"):
        for each in known_keys.rows(part):
            assert all(re.fullmatch(r'"?[a-z0-9_./@:=+-]{4,}', word) for word in each.get("words", ()))
