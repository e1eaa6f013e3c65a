"""Source lines cut to the width, and hostile data on its way to a terminal."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from unit.check.formats import made
from usher.check import devices as scan_devices
from usher.check import findings
from usher.check.formats import text
from usher.check.formats.lines import Lines, fitted

HOSTILE = "\x1b[31m[red]::error::\u202e##vso[x]\n:smile:"


def excerpt(line: str, marked: str) -> findings.Excerpt:
    return made.place(1, line, marked).excerpt


def rendered(found: findings.Report, *, color: bool = False) -> str:
    stream = io.StringIO()
    text.write(found, stream, color=color, width=100)
    return stream.getvalue()


def test_a_line_that_fits_is_shown_whole() -> None:
    assert fitted(excerpt("  gpu: 8  # why", "8"), width=40) == ("  gpu: ", "8", "  # why")


def test_a_long_line_is_cut_around_the_underlined_part() -> None:
    line = "a" * 50 + "MARKED" + "b" * 50

    before, marked, after = fitted(excerpt(line, "MARKED"), width=40)

    assert marked == "MARKED"
    assert before.startswith("…")
    assert cell_len(before + marked + after) <= 40


def test_tabs_and_wide_characters_keep_the_underline_in_place() -> None:
    before, marked, _ = fitted(excerpt("\t模型: x", "x"), width=40)

    assert cell_len(before) == 4 + 4 + 2
    assert marked == "x"


@given(
    before=st.text(max_size=200), marked=st.text(min_size=1, max_size=200), after=st.text(max_size=200),
    width=st.integers(30, 200),
)  # fmt: skip
def test_no_source_line_breaks_the_width_or_reaches_the_terminal_raw(
    before: str, marked: str, after: str, width: int
) -> None:
    line = findings.Excerpt(text=before + marked + after, column=len(before) + 1, end_column=len(before + marked) + 1)

    parts = fitted(line, width=width)

    assert cell_len("".join(parts)) <= width
    assert "".join(parts).isprintable()


@pytest.mark.parametrize("color", [False, True])
def test_nothing_in_a_report_obeys_hostile_data(*, color: bool) -> None:
    hostile = made.made(
        made.result(
            made.finding(HOSTILE, name=HOSTILE, remedy=HOSTILE, because=HOSTILE, at=made.place(1, HOSTILE, "red")),
            made.finding(HOSTILE, path=f"/{HOSTILE}", at=None, pod_set=None),
            source=HOSTILE,
            kind=HOSTILE,
            namespace=HOSTILE,
            name=HOSTILE,
            accelerators={HOSTILE: scan_devices.Amount(number=1)},
            unknowns=[made.not_judged(HOSTILE, path=f"/{HOSTILE}")],
        ),
        command=findings.Command.AUDIT,
        origin=HOSTILE,
        configuration=HOSTILE,
        problems=[findings.Problem(source=HOSTILE, reason=HOSTILE)],
        notes=[findings.Note(source=HOSTILE, reason=HOSTILE)],
        not_evaluated=[findings.NotEvaluated(check=HOSTILE, code="", name=HOSTILE, reason=HOSTILE, workloads=1)],
        failures=[
            findings.Failure(
                source=HOSTILE,
                line=1,
                identity=findings.Identity(api_version=HOSTILE, kind=HOSTILE, namespace=HOSTILE, name=HOSTILE),
                reason=HOSTILE,
            )
        ],
    )

    shown = Text.from_ansi(rendered(hostile, color=color)).plain if color else rendered(hostile)

    assert all(line.isprintable() for line in shown.split("\n"))
    assert not [line for line in shown.splitlines() if line.lstrip().startswith("::")]
    assert "##vso[" not in shown
    assert "[red]" in shown
    assert ":smile:" in shown


def test_colour_is_written_only_when_it_is_asked_for() -> None:
    stream = io.StringIO()

    Lines(stream, color=False, width=80).write(Text("x", style="bold red"))
    Lines(stream, color=True, width=80).write(Text("x", style="bold red"))

    assert stream.getvalue() == "x\n\x1b[1;31mx\x1b[0m\n"


def test_findings_of_one_check_share_one_heading_and_show_every_place() -> None:
    anchored = made.LIMIT
    other = made.place(57, "    nvidia.com/gpu: 2", "2")
    found = made.made(
        made.result(made.finding("first"), made.finding("second", at=anchored), made.finding("third", at=other))
    )

    out = rendered(found)

    assert out.count("USH103") == 1
    assert out.count("set both to the same number") == 1
    assert out.count("41 | ") == 1
    assert [word for word in ("first", "second", "third") if word in out] == ["first", "second", "third"]


def test_notes_without_end_are_cut_and_the_way_to_all_of_them_told() -> None:
    notes = [findings.Note(source=f"{number}.yaml", reason="left out") for number in range(30)]

    out = rendered(made.made(made.result(), notes=notes))

    assert "left out: 20 more; --format json lists all" in out


def test_colour_changes_nothing_but_the_colour() -> None:
    for report in (made.full(), made.changed(diff=False), made.changed(diff=True)):
        assert re.sub(r"\x1b\[[0-9;]*m", "", rendered(report, color=True)) == rendered(report)


def wrapped(words: str, *, width: int) -> list[str]:
    stream = io.StringIO()
    Lines(stream, color=False, width=width).wrapped(words, first=Text("  "), rest="  ")
    return [line.removeprefix("  ") for line in stream.getvalue().splitlines()]


def test_a_path_that_is_wider_than_a_line_breaks_between_its_fields() -> None:
    found = wrapped("team nlp, spec.pytorchReplicaSpecs.Master.template.spec.containers[0].volumeMounts", width=50)

    assert found == ["team nlp,", "spec.pytorchReplicaSpecs.Master.template.spec.", "containers[0].volumeMounts"]


@given(words=st.text(st.sampled_from("ab./[日 "), max_size=300), width=st.integers(40, 90))
def test_broken_lines_fit_and_lose_no_character(words: str, width: int) -> None:
    found = wrapped(words, width=width)

    assert all(cell_len(line) <= width - 2 for line in found)
    assert "".join(found).replace(" ", "") == words.replace(" ", "")
