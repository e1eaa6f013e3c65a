"""Markdown: hostile text changes no structure, and a comment has room for it."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from unit.check.formats import hostile, made
from unit.check.formats.hostile import ended, written
from usher import model
from usher.check import findings
from usher.check.formats import markdown, wording

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
INVISIBLE = "\u200b"


def flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def structure(text: str) -> list[tuple[str, int]]:
    """The kinds of all parts; texts beside each other are one."""
    kinds: list[tuple[str, int]] = []
    for token in flat(READER.parse(text)):
        kind = ("text" if token.type in {"text", "text_special"} else token.type, token.level)
        if kind[0] != "text" or kinds[-1] != kind:
            kinds.append(kind)
    return kinds


def shown(text: str) -> str:
    """The text that people see, without markup."""
    return "".join(
        token.content for token in flat(READER.parse(text)) if token.type in {"text", "text_special", "code_inline"}
    )


@given(text=hostile.hostile_text)
def test_prose_and_code_show_every_character_and_are_nothing_but_text(text: str) -> None:
    expected = wording.printable(text)

    prose = markdown.prose(text)
    assert shown(f"* {prose}").replace(INVISIBLE, "") == (expected.strip() or "(empty)")
    assert structure(f"* {prose}") == structure("* x")
    assert shown(f"* a{markdown.code(text)}") == f"a{wording.without_commands(expected) or ' '}"
    assert structure(f"* {markdown.code(text)}") == structure("* `x`")


@given(text=hostile.hostile_text)
def test_hostile_names_change_no_structure(text: str) -> None:
    comment = written(markdown.write, ended(hostile.report(text)))

    assert structure(comment) == structure(written(markdown.write, ended(hostile.report("x"))))


@given(before=st.sampled_from(["", "a ", "("]), name=st.sampled_from(["@team", "@a/b", "#1", "o/r#2", "GH-3", "!4"]))
def test_prose_makes_neither_mentions_nor_references(before: str, name: str) -> None:
    seen = shown(f"* {markdown.prose(before + name)}")

    assert seen.replace(INVISIBLE, "") == before + name
    assert name not in seen


@pytest.mark.parametrize("address", ["https://example.com/x", "HTTP://example.com", "www.example.com"])
def test_prose_makes_no_link_of_an_address(address: str) -> None:
    seen = shown(f"* {markdown.prose(address)}")

    assert seen.replace(INVISIBLE, "") == address
    assert "://" not in seen
    assert "www." not in seen


def test_a_comment_begins_with_the_marker_and_has_it_once() -> None:
    comment = written(markdown.write, hostile.report(f"{markdown.MARKER}\n--> @x"))

    assert comment.startswith(f"{markdown.MARKER}\n## gpu-usher: ")
    html = [token.content for token in flat(READER.parse(comment)) if token.type.startswith("html")]
    assert [each.strip() for each in html] == [markdown.MARKER]


def test_a_cause_is_said_once_with_its_places() -> None:
    found = made.made(*(made.result(made.finding(), name=f"bert-{number}") for number in range(14)))

    comment = written(markdown.write, found)

    assert comment.count("nvidia.com/gpu requests 8, limits 4") == 1
    assert comment.count("  * `jobs/bert.yaml:41:35 PyTorchJob ml-research/bert-") == 10
    assert "  * and 4 more\n" in comment


def test_a_long_run_is_cut_the_mildest_first_and_the_cut_is_said() -> None:
    notes = [made.finding(f"note {number} " + "x" * 900, outcome=model.Outcome.AUDIT) for number in range(200)]
    found = made.made(made.result(*notes, made.finding()))

    comment = written(markdown.write, found)

    assert len(comment.encode("utf-16-le")) // 2 <= markdown.MAX_SIZE
    assert "### error USH103 gpu-requests-equal-limits" in comment
    shown_notes = comment.count("* note ")
    assert (
        f"**{200 - shown_notes} more entries left out**, because a comment has room for 65,536 characters." in comment
    )


def test_a_clean_run_says_so() -> None:
    comment = written(markdown.write, made.made(made.result()))

    assert comment == (
        f"{markdown.MARKER}\n## gpu-usher: no errors, no warnings\n\n"
        "1 file, 1 workload, 72 GPUs: no errors, no warnings\n\n"
        "gpu-usher 1.2.3, configuration: built-in defaults (preset recommended)\n"
    )


def test_an_incomplete_run_says_so_in_the_heading() -> None:
    comment = written(markdown.write, made.full(findings.Command.CHECK))

    assert comment.splitlines()[1].startswith("## gpu-usher: incomplete, 2 errors")
    assert "* `jobs/broken.yaml:7:3`: the quote that opens here never closes\n" in comment
