"""The formats as files: tests/data/reports holds what each of them writes.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest tests/unit/check/formats` writes them again; read the diff.
"""

import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from unit.check.formats import made
from unit.check.formats.hostile import ended
from usher.check import findings
from usher.check.formats import annotations, json_report, markdown, sarif, test_cases, text
from usher.policy.checks import catalogue

GOLDEN = Path(__file__).parents[3] / "data" / "reports"

Reporter = Callable[[findings.Report, io.StringIO], None]


def with_rules(found: findings.Report) -> findings.Report:
    """With what the catalogue says of one of its checks."""
    (check,) = (each for each in catalogue.load().catalogue.checks.values() if each.code == "USH103")
    return replace(found, rules={check.key: check})


def many() -> findings.Report:
    """More findings than a list by file shows."""
    findings_of = (made.finding(), made.toleration_missing())
    results = [
        made.result(*findings_of, source=f"jobs/{number // 4:02}.yaml", name=f"bert-{number}") for number in range(90)
    ]
    return made.made(*results, *made.full().results, problems=made.full().problems)


CASES: dict[str, tuple[findings.Report, Reporter]] = {
    "check.txt": (made.full(), partial(text.write, width=100)),
    "check-narrow.txt": (made.full(), partial(text.write, width=60)),
    "check-color.txt": (made.full(), partial(text.write, width=100, color=True)),
    "check.json": (made.full(), json_report.write),
    "audit.txt": (made.full(findings.Command.AUDIT), partial(text.write, width=100)),
    "audit.json": (made.full(findings.Command.AUDIT), json_report.write),
    "clean.txt": (made.made(made.result()), partial(text.write, width=100)),
    "changed.txt": (made.changed(diff=False), partial(text.write, width=100)),
    "diff.txt": (made.changed(diff=True), partial(text.write, width=100)),
    "diff.json": (made.changed(diff=True), json_report.write),
    "check.sarif": (with_rules(ended(made.full())), sarif.write),
    "check.junit.xml": (ended(made.full()), test_cases.write_junit),
    "check.github.log": (made.full(), annotations.write_github),
    "check.azure.log": (made.full(), annotations.write_azure),
    "check.gitlab.json": (with_rules(made.full()), annotations.write_gitlab),
    "check.tap": (ended(made.full()), test_cases.write_tap),
    "check.md": (with_rules(made.full()), markdown.write),
    "check.yaml": (made.full(), json_report.write_yaml),
    "quiet.txt": (made.full(), partial(text.write, width=100, quiet=True)),
    "many.txt": (many(), partial(text.write, width=100)),
    "as-written.txt": (made.made(made.result(), admitted=False), partial(text.write, width=100)),
}


def rendered(found: findings.Report, reporter: Reporter) -> str:
    stream = io.StringIO()
    reporter(found, stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_a_report_reads_as_its_golden_file(name: str) -> None:
    file = GOLDEN / name
    written = rendered(*CASES[name])
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        file.write_text(written)

    assert written == file.read_text()


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("check.") and "gitlab" not in name])
def test_kinds_whose_keys_were_not_compared_are_a_note_in_every_format_that_has_notes(name: str) -> None:
    assert "not compared" in rendered(*CASES[name]) or "Training (example.com/v1)" in rendered(*CASES[name])


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {file.name for file in GOLDEN.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_report_is_the_same_every_time(name: str) -> None:
    assert rendered(*CASES[name]) == rendered(*CASES[name])


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("txt") and "color" not in name])
def test_text_without_colour_holds_no_control_characters(name: str) -> None:
    assert all(line.isprintable() for line in rendered(*CASES[name]).splitlines())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = rendered(made.full(findings.Command.CHECK), partial(text.write, width=width)).splitlines()

    # Codes, names and tables are not broken; everything else keeps to the width.
    assert [line for line in lines if len(line) > width and "USH" not in line] == []
