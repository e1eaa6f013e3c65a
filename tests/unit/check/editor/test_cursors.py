"""Where a cursor stands in YAML that is half written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.check.editor import completion
from usher.check.editor.documents import Point, Text

CURSOR = "|"


def found(content: str) -> completion.Cursor | None:
    """The place around the mark in a text."""
    offset = content.index(CURSOR)
    text = Text(content.replace(CURSOR, "", 1))
    return completion.cursor_at(text, text.point(offset))


def keys(content: str) -> tuple[str | int, ...]:
    place = found(content)
    assert place is not None
    return place.keys


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("|", ()),
        ("pools: []\n|", ()),
        ("enforcement:\n  |", ("enforcement",)),
        ("enforcement:\n\n  # why\n  |", ("enforcement",)),
        ("pools:\n  - |", ("pools", 0)),
        ("pools:\n- |", ("pools", 0)),
        ("pools:\n- name: a\n  |", ("pools", 0)),
        ("pools:\n  - name: a\n    gpu:\n      |", ("pools", 0, "gpu")),
        ("pools:\n  - name: a\n    gpu:\n      board: x\n  - name: b\n    |", ("pools", 0)),
        ("a:\n  b:\n    c: 1\nd:\n  |", ("d",)),
        ('"quoted":\n  |', ("quoted",)),
        ("matrix:\n  - - |", ("matrix", 0, 0)),
        ("resources:\n  nvidia.com/gpu:\n    |", ("resources", "nvidia.com/gpu")),
        ("a:\r\n  |\r\n", ("a",)),
    ],
)
def test_the_lines_above_say_where_a_key_goes(content: str, expected: tuple[str | int, ...]) -> None:
    place = found(content)
    assert place is not None
    assert place.is_key
    assert place.keys == expected


@pytest.mark.parametrize(
    ("content", "expected", "word"),
    [
        ("preset: |", ("preset",), ""),
        ("enforcement:\n  preset: str|", ("enforcement", "preset"), "str"),
        ("roles: [training, in|", ("roles", 0), "in"),
        ("roles: [|", ("roles", 0), ""),
        ('preset: "str|', ("preset",), "str"),
        ("rules:\n  - check: gpu-re|", ("rules", 0, "check"), "gpu-re"),
    ],
)
def test_behind_a_key_stands_its_value(content: str, expected: tuple[str | int, ...], word: str) -> None:
    place = found(content)
    assert place is not None
    assert not place.is_key
    assert (place.keys, place.word) == (expected, word)


def test_a_new_item_may_be_a_value_or_a_mapping() -> None:
    place = found("checks:\n  - gpu|")
    assert place is not None
    assert place.is_key
    assert place.may_be_value


def test_the_other_keys_of_the_mapping_stand_above_and_below() -> None:
    place = found("pools:\n  - name: a\n    |\n    for: x\n    gpu:\n      board: y\n  - fabric: z\n")
    assert place is not None
    assert place.siblings == {"name", "for", "gpu"}


@pytest.mark.parametrize("content", ["# |", "preset: strict # |", "a: {b|", "a: one two|", "two words|"])
def test_no_key_goes_into_comments_braces_and_texts(content: str) -> None:
    assert found(content) is None


def test_the_key_of_a_line_is_found_from_anywhere_on_it() -> None:
    text = Text("pools:\n  - name: abc\n")
    assert completion.key_at(text, Point(1, 11)) == (("pools", 0, "name"), 4, 8)


def test_a_line_of_a_text_has_no_key() -> None:
    text = Text("a: |\n  text\n")
    assert completion.key_at(text, Point(1, 3)) is None
    assert completion.key_at(text, Point(7, 0)) is None


@given(st.text(alphabet="ab: -\n[]{}\"'#|\t\U0001f600", max_size=60), st.integers(-1, 8), st.integers(-1, 30))
def test_any_text_has_an_answer(content: str, line: int, column: int) -> None:
    text = Text(content)
    place = completion.cursor_at(text, Point(line, column))
    if place is not None:
        before = content[: text.offset(Point(line, column))]
        assert before.endswith(place.word)
    completion.key_at(text, Point(line, column))
