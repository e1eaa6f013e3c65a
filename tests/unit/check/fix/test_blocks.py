"""New keys and items stand where their neighbours do, and everything else stays as it was written."""

import pytest

from unit.check.fix.edited import GONE, edited


def test_a_key_goes_below_the_last_one_in_its_column() -> None:
    text = "a:\n    b: 1   # one\nc: 2\n"

    assert edited(text, {"/a/n": "x"}) == 'a:\n    b: 1   # one\n    "n": x\nc: 2\n'


def test_a_missing_mapping_is_indented_like_the_others() -> None:
    text = "metadata:\n    name: a\n"

    assert edited(text, {"/spec": {"b": {"c": 1}}}) == "metadata:\n    name: a\nspec:\n    b:\n        c: 1\n"


@pytest.mark.parametrize("indent", ["", "  ", "   "])
def test_the_dashes_of_a_new_list_stand_like_those_of_the_others(indent: str) -> None:
    text = f"args:\n{indent}- a\n{indent}- b\n"

    assert edited(text, {"/env": [{"name": "A", "value": "1"}]}) == (
        f'{text}env:\n{indent}- name: A\n{indent}  value: "1"\n'
    )


def test_an_item_gets_the_gap_behind_its_dash_that_the_others_have() -> None:
    assert edited("a:\n -   b: 1\n", {"/a/-": {"b": 2, "c": 3}}) == "a:\n -   b: 1\n -   b: 2\n     c: 3\n"


def test_a_comment_in_the_column_of_a_mapping_belongs_to_it() -> None:
    text = "limits:\n  cpu: 1\n  # memory: 2Gi\n\n# the rest\nother: 1\n"

    assert edited(text, {"/limits/gpu": 1}) == (
        "limits:\n  cpu: 1\n  # memory: 2Gi\n  gpu: 1\n\n# the rest\nother: 1\n"
    )


def test_a_comment_before_the_next_key_stays_with_that_key() -> None:
    text = "spec:\n  tolerations:\n  - key: a\n  # the image\n  image: x\n"

    assert edited(text, {"/spec/tolerations/-": {"key": "b"}}) == (
        "spec:\n  tolerations:\n  - key: a\n  - key: b\n  # the image\n  image: x\n"
    )


def test_a_missing_line_end_at_the_end_of_the_file_stays_missing() -> None:
    assert edited("a: 1\nb: 2", {"/c": 3}) == "a: 1\nb: 2\nc: 3"
    assert edited("a: 1\nb: 2", {"/b": GONE}) == "a: 1"


def test_line_ends_of_windows_stay() -> None:
    assert edited("a:\r\n  b: 1\r\nc: 2\r\n", {"/a/d": [1], "/c": GONE}) == "a:\r\n  b: 1\r\n  d:\r\n  - 1\r\n"
    assert edited("a: 1\r\nb: 2", {"/c": 3}) == "a: 1\r\nb: 2\r\nc: 3"


@pytest.mark.parametrize("header", ["|", "|-", "|+", ">", ">-", ">+"])
def test_a_block_of_text_at_the_end_keeps_its_last_lines(header: str) -> None:
    text = f"a: {header}\n  x\n\n"
    new = edited(text, {"/b": 1})

    kept = "\n" if header.endswith("+") else ""
    assert new == f"a: {header}\n  x\n{kept}b: 1\n" + ("" if kept else "\n")


def test_a_block_of_text_at_the_end_of_a_file_without_a_line_end_keeps_its_value() -> None:
    assert edited("a: |\n  x", {"/b": 1}) == "a: |\n  x\nb: 1"


def test_a_text_over_several_lines_ends_where_it_ends() -> None:
    assert edited("a: one\n  two\n  three # c\n", {"/b": 1}) == "a: one\n  two\n  three # c\nb: 1\n"
    assert edited("a: one\n  two\nb: 1\n", {"/a": "x"}) == "a: x\nb: 1\n"


@pytest.mark.parametrize("empty", ["", " null", " ~", " {}", " []"])
def test_an_empty_value_becomes_lines_and_its_comment_stays(empty: str) -> None:
    text = f"a:\n  b:{empty}  # later\nc: 1\n"
    value = [1] if empty == " []" else {"x": 1}
    lines = "  - 1\n" if empty == " []" else "    x: 1\n"

    assert edited(text, {"/a/b": value}) == f"a:\n  b:  # later\n{lines}c: 1\n"


def test_an_empty_item_becomes_lines_behind_its_dash() -> None:
    assert edited("a:\n- {}\n-\n", {"/a/0": {"b": 1, "c": 2}, "/a/1": {"d": 3}}) == ("a:\n- b: 1\n  c: 2\n- d: 3\n")


def test_the_document_goes_on_behind_its_end_mark() -> None:
    assert edited("a: 1\n...\n", {"/b": 2}) == "a: 1\nb: 2\n...\n"


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [("'x'", "'it''s'", "it's"), ('"x"', '"y"', "y"), ("x", "z", "z"), ("x", '"true"', "true"), ('"8"', "8", 8)],
)
def test_a_new_value_has_the_quotes_of_the_old_one(old: str, new: str, value: object) -> None:
    assert edited(f"a: {old}  # c\n", {"/a": value}) == f"a: {new}  # c\n"


@pytest.mark.parametrize("text", ["no", "1:30", "2024-01-01", "0o7", "1_000", "-", "", "a: b", "a #b", " a", "\u2028"])
def test_a_text_that_a_parser_could_read_as_something_else_is_quoted(text: str) -> None:
    written = edited("a: 1\n", {"/b": text})

    assert written.startswith('a: 1\nb: "')


def test_a_text_of_several_lines_is_written_as_lines() -> None:
    assert edited("a: 1\n", {"/b": "x\n  y\n"}) == "a: 1\nb: |\n  x\n    y\n"


def test_a_key_is_renamed_in_its_place() -> None:
    text = "limits:\n  # one GPU\n  nvidia.com/gpus: 1  # is enough\n  cpu: 2\n"

    assert edited(text, {"/limits/nvidia.com~1gpus": GONE, "/limits/nvidia.com~1gpu": 1}) == (
        text.replace("gpus:", "gpu:")
    )


def test_a_removed_item_goes_with_its_lines_and_comments_around_it_stay() -> None:
    text = "env:\n# first\n- name: A\n  value: x\n# second\n- name: B\n"

    assert edited(text, {"/env/0": GONE}) == "env:\n# first\n# second\n- name: B\n"


def test_the_first_key_of_an_item_leaves_its_dash_to_the_next_one() -> None:
    assert edited("a:\n- b: 1\n  c: 2\n", {"/a/0/b": GONE}) == "a:\n- c: 2\n"


def test_the_last_entry_leaves_brackets() -> None:
    assert edited("a:  # c\n  b: 1\nd:\n- e\n", {"/a/b": GONE, "/d/0": GONE}) == "a: {}  # c\nd: []\n"
