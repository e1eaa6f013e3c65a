"""Texts that people and attackers write: usher refuses what it cannot edit exactly, with the reason."""

import pytest

from unit.check.fix.edited import GONE, edited, refused, rewritten


def test_other_documents_keep_every_byte() -> None:
    text = "# head\n---\na: 1\n--- # next\nb: {c: 1}   # x\n...\n---\n\n---\nd: |+\n  e\n\n---\n"

    done = rewritten(text, {"/b/f": 2}, document=1)

    assert done.content.decode() == text.replace("{c: 1}", "{c: 1, f: 2}")


def test_a_byte_order_mark_stays() -> None:
    assert rewritten(b"\xef\xbb\xbfa: 1\n", {"/b": 2}).content == b"\xef\xbb\xbfa: 1\nb: 2\n"


def test_a_change_to_the_same_value_changes_no_byte() -> None:
    text = b"\xef\xbb\xbfa:   1   \r\n\r\n\r\nb: [ 1,2 ]"

    assert rewritten(text, {"/a": 1, "/b": [1, 2]}).content == text


@pytest.mark.parametrize("text", ["a: 1\rb: 2\n", "a: 'x\u2028  y'\n", "a: 1 # \x85\n"])
def test_line_ends_that_only_some_programs_know_are_refused(text: str) -> None:
    assert "ends lines for some programs only" in refused(text, {"/a": 3})[1]


@pytest.mark.parametrize(
    "line",
    [
        "# {{- if .Values.gpu }}",
        "b: '{{ .Values.image }}'",
        'b: "{{ include \\"x\\" . }}"',
        "b: '{{ .Release.Name }}'",
        "# {% if gpu %}",
    ],
)
def test_a_template_is_never_edited(line: str) -> None:
    _, reason = refused(f"a: 1\n{line}\n", {"/a": 2})

    assert "is a template for" in reason
    assert "(line 2)" in reason


@pytest.mark.parametrize(
    "text", ["{{inputs.parameters.x}}", "{{ workflow.name }}", "{{=sprig.trim(item)}}", "{{.Name}}"]
)
def test_what_argo_and_kserve_resolve_in_the_cluster_is_not_a_template(text: str) -> None:
    assert edited(f"a: 1\nb: '{text}'\n", {"/a": 2}) == f"a: 2\nb: '{text}'\n"


def test_keys_with_question_marks_are_refused() -> None:
    assert refused("? a\n: b: 1\n", {"/c": 1})[1] == "its first key does not begin a line; change it by hand"


def test_tags_and_quoted_keys_are_understood() -> None:
    text = "'a': !!map\n  \"b\": !!int 1\n"

    assert edited(text, {"/a/b": 2, "/a/c": 3}) == '\'a\': !!map\n  "b": 2\n  "c": 3\n'


def test_very_deep_brackets_are_edited_inside() -> None:
    text = "a: " + "{a: " * 100 + "{}" + "}" * 100 + "\n"

    assert edited(text, {"/a" * 101 + "/b": 1}) == text.replace("{}", "{b: 1}")


def test_comments_at_odd_indentation_stay_where_they_are() -> None:
    text = "a:\n      # far\n  b:\n # near\n  - c\n        # farther\n# left\n  - d\n"

    assert edited(text, {"/a/b/-": "e", "/a/f": 1}) == f"{text}  - e\n  f: 1\n"
    assert edited(text, {"/a/b/0": GONE}) == text.replace("  - c\n", "")


def test_two_changes_at_the_end_of_one_line_go_from_the_inside_out() -> None:
    assert edited("a:\n  b:\n    c: 1\n", {"/a/b/d": 2, "/a/e": 3, "/f": 4}) == (
        "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\nf: 4\n"
    )


def test_a_list_in_a_list_gets_its_item() -> None:
    assert edited("a:\n- - b\n  - c\n", {"/a/0/-": "d"}) == "a:\n- - b\n  - c\n  - d\n"


def test_the_value_of_a_whole_document_is_not_replaced() -> None:
    assert rewritten("{}\n", {"/a": 1}).refusals[0][0].reason == "the whole document would change; change it by hand"
