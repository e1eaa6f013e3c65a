"""Edits inside brackets: on the line, or with a line for each entry, as the brackets are written."""

import json

import pytest

from unit.check.fix.edited import GONE, edited, refused


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: {b: 1}\n", "a: {b: 1, c: x}\n"),
        ("a: { b: 1 }\n", "a: { b: 1, c: x }\n"),
        ("a: {b: 1, }\n", "a: {b: 1, c: x, }\n"),
        ('a: {"b": 1}\n', 'a: {"b": 1, "c": x}\n'),
        ("a: {b: 1,\n    d: 2}  # e\n", "a: {b: 1,\n    d: 2, c: x}  # e\n"),
        ("a: {\n  b: 1  # one\n}\n", "a: {\n  b: 1,  # one\n  c: x\n}\n"),
        ("a: {\n  b: 1,  # one\n}\n", "a: {\n  b: 1,  # one\n  c: x,\n}\n"),
    ],
)
def test_a_key_goes_behind_the_last_one(before: str, after: str) -> None:
    assert edited(before, {"/a/c": "x"}) == after


def test_an_item_is_written_in_brackets_too() -> None:
    assert edited("a: [{b: 1}]\n", {"/a/-": {"b": 2, "c": ["x, y"]}}) == 'a: [{b: 1}, {b: 2, c: ["x, y"]}]\n'


def test_removed_entries_go_with_their_commas() -> None:
    assert edited("a: [1, 2, 3]\n", {"/a/1": GONE}) == "a: [1, 3]\n"
    assert edited("a: [1, 2, 3]\n", {"/a/0": GONE}) == "a: [2, 3]\n"
    assert edited("a: [1, 2, 3]\n", {"/a/2": GONE}) == "a: [1, 2]\n"
    assert edited("a: {b: 1}\n", {"/a/b": GONE}) == "a: {}\n"


def test_a_comment_between_brackets_is_not_removed() -> None:
    assert refused("a: [1,  # one\n  2]\n", {"/a/0": GONE}) == (
        1,
        "a comment may stand between what would go; change it by hand",
    )


@pytest.mark.parametrize("indent", [None, 2, 3, 4])
def test_json_keeps_its_layout(indent: int | None) -> None:
    value = {"a": {"b": 1}, "c": [{"d": "x"}], "e": {}}
    changed = {"a": {"b": 1, "n": "5"}, "c": [{"d": "y"}, {"d": True}], "e": {"f": [1]}}

    new = edited(json.dumps(value, indent=indent), {"/a/n": "5", "/c/0/d": "y", "/c/-": {"d": True}, "/e/f": [1]})

    assert new == json.dumps(changed, indent=indent)


def test_json_without_blanks_stays_without() -> None:
    assert edited('{"a":{"b":1},"c":[1,2]}\n', {"/a/d": {"e": [1, 2]}}) == ('{"a":{"b":1,"d":{"e":[1,2]}},"c":[1,2]}\n')


def test_one_of_several_json_values_in_a_row_changes_alone() -> None:
    assert edited('{"a": 1}\n{"b": 2}\n', {"/c": None}) == '{"a": 1, "c": null}\n{"b": 2}\n'
