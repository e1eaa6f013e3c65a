"""docs/man: a manual page for each command, with all its options, that roff prints as they are."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import click
import document_commands
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FOLDER: Final = Path(__file__).parents[2] / "docs/man"
SOURCES: Final = Path(__file__).parents[2] / "webhooks/usher"
PAGES: Final = {"-".join(words): context for words, context in document_commands.contexts()}

needs_groff = pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")

HOSTILE: Final = [
    ".SH INVENTED",
    "'br",
    '.\\" a comment',
    "\\fBbold\\fR \\n(.g \\*(aq \\e \\\\",
    ".so /etc/passwd",
    "\\X'tty: link' \\!output",
    "two `unmatched",
    "--dash - x--y",
    "~ ^ ` ' \" @ #",
    "ä ü \u00e9",
    "%percent \\% \\&",
]


def rendered(source: str) -> str:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou"],
        input=source,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert not done.stderr
    return done.stdout


def printed(lines: list[str]) -> list[str]:
    """Lines of text as roff prints them on a page."""
    source = "\n".join(document_commands.text(line) for line in lines if line.strip())
    shown = rendered(f".TH NAME 1 date source manual\n.ll 1000n\n.nf\n{source}\n")
    _, *found, _ = (line.strip() for line in shown.splitlines() if line.strip())
    return found


def test_every_command_has_its_page_and_no_page_is_stale() -> None:
    written = {file.stem: file.read_text(encoding="ascii") for file in FOLDER.glob("*.1")}

    assert written == {name: "\n".join(document_commands.page(context)) + "\n" for name, context in PAGES.items()}
    assert {"usher", "usher-check", "usher-config-schema"} <= set(written)


@needs_groff
@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_every_option_of_its_command(name: str) -> None:
    text = rendered((FOLDER / f"{name}.1").read_text())

    options = [each for each in PAGES[name].command.params if isinstance(each, click.Option) and not each.hidden]
    spellings = {spelling for each in options for spelling in each.opts}
    assert spellings <= set(re.findall(r"(?<![\w-])--?\w[\w-]*", text))


@needs_groff
def test_a_page_has_the_sections_that_readers_expect() -> None:
    text = rendered((FOLDER / "usher-check.1").read_text())

    assert re.findall(r"^[A-Z][A-Z ]+$", text, re.MULTILINE) == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO",
    ]  # fmt: skip
    assert "\n       usher check -k overlays/prod --namespace ml-research\n" in text
    assert "\n       2  an input could not be read, " in text
    assert "\b" not in text


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
def test_man_shows_a_page() -> None:
    done = subprocess.run(["man", "-l", str(FOLDER / "usher.1")], capture_output=True, text=True, check=True)

    assert "usher-check(1)" in done.stdout
    assert not done.stderr


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="needs mandoc")
@pytest.mark.parametrize("name", PAGES)
def test_mandoc_finds_no_error(name: str) -> None:
    subprocess.run(["mandoc", "-T", "lint", "-W", "error", str(FOLDER / f"{name}.1")], check=True)


@needs_groff
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_a_request_or_an_escape_of_roff(text: str) -> None:
    assert printed([text]) == [text]


@pytest.mark.costly
@needs_groff
@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="`")), max_size=30))
def test_any_line_is_printed_as_it_is(lines: list[str]) -> None:
    assert printed(lines) == [line.strip() for line in lines if line.strip()]


def test_control_characters_and_line_ends_become_spaces() -> None:
    assert document_commands.escaped("a\n.SH b\x1b[31m\t\ud800") == "a .SH b [31m  "


def test_other_alphabets_are_written_in_ascii() -> None:
    assert document_commands.escaped("é…") == r"\[u00E9]\[u2026]"


def test_the_variables_of_the_environment_are_those_that_usher_reads() -> None:
    read = "".join(file.read_text() for file in SOURCES.rglob("*.py"))
    by_code = set(re.findall(r'"([A-Z][A-Z_]+)"', read))
    by_options = set(re.findall(r"envvar: ([A-Z_]+)", (SOURCES / "cli" / "commands.yaml").read_text()))

    assert set(document_commands.ENVIRONMENT) - by_code - by_options == set()
    assert {name for name in by_code if name.startswith("USHER_")} | by_options <= set(document_commands.ENVIRONMENT)
