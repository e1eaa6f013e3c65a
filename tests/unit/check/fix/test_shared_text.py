"""Anchors, aliases and merge keys: a change never reaches a place that did not ask for it."""

import pytest

from unit.check.fix.edited import GONE, edited, refused, rewritten

TEXT = """\
base: &base
  limits: {gpu: 1}
first:
  <<: *base
  cpu: 1
second: *base
word: &word x
third: *word
"""


def test_a_change_behind_an_alias_is_refused_with_the_line_of_the_alias() -> None:
    line, reason = refused(TEXT, {"/second": {"limits": {"gpu": 2}}})

    assert line == 6
    assert "the alias *base gives the value" in reason
    assert "write the value out here" in reason


def test_a_change_at_an_anchor_that_others_take_is_refused() -> None:
    assert refused(TEXT, {"/base/limits/gpu": 2})[0] == 1
    assert refused(TEXT, {"/word": "y"})[0] == 7


def test_a_value_of_a_merge_key_is_refused() -> None:
    assert refused(TEXT, {"/first/limits": {"gpu": 2}}) == (4, "a merge key (<<) gives the value; write it out here")


def test_a_key_beside_a_merge_key_is_added() -> None:
    assert edited(TEXT, {"/first/memory": "1Gi"}) == TEXT.replace("  cpu: 1\n", "  cpu: 1\n  memory: 1Gi\n")


def test_a_key_that_a_merge_key_overrides_is_refused() -> None:
    text = "a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n"

    assert "merge key" in refused(text, {"/b/x": 3})[1]


def test_an_alias_of_a_text_becomes_a_text_of_its_own() -> None:
    assert edited(TEXT, {"/third": "z"}) == TEXT.replace("third: *word", "third: z")


def test_an_anchor_without_aliases_stays_where_it_is() -> None:
    assert edited("a: &a\n  b: &b 1\n", {"/a/b": 2, "/a/c": 3}) == "a: &a\n  b: &b 2\n  c: 3\n"


def test_a_value_that_holds_an_anchor_of_others_is_not_removed() -> None:
    assert refused("a:\n  b: &b 1\nc: *b\nd: 1\n", {"/a": GONE})[0] == 2


def test_where_all_places_want_the_same_the_text_at_the_anchor_changes_once() -> None:
    text = "first: &pod\n  args:\n  - a\nsecond: *pod\nthird: [*pod]\n"
    new = {"args": ["a", "b"]}

    assert edited(text, {"/first": new, "/second": new, "/third/0": new}) == text.replace("- a\n", "- a\n  - b\n")


@pytest.mark.parametrize("left_out", ["/first", "/second", "/third/0"])
def test_if_one_place_wants_something_else_nothing_is_written(left_out: str) -> None:
    text = "first: &pod\n  args:\n  - a\nsecond: *pod\nthird: [*pod]\n"
    changes = {place: {"args": ["a", "b"]} for place in ("/first", "/second", "/third/0") if place != left_out}

    assert rewritten(text, changes).content == text.encode()
