"""The options for what changed: the trend in the document, and a history that fails without losing the report."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from builders import audit_documents as audits
from usher import errors
from usher.audit.document import Audit
from usher.audit.reports import json_document
from usher.cli import audit as cli_audit
from usher.cli import inputs
from usher.cli.audit import Comparison

EARLIER, NOW = (audits.audit(taken=at, findings=(audits.finding(),)) for at in (audits.WEEK_BEFORE, audits.TAKEN))


@inputs.command("audit", formats="")
@click.pass_context
def _command(context: click.Context, /, *, comparison: Comparison, **_: object) -> None:
    context.obj.append(comparison)


def given(*arguments: str, variable: str | None = None) -> Comparison:
    found: list[Comparison] = []
    environment = {"USHER_AUDIT_HISTORY": variable}
    CliRunner(env=environment).invoke(_command, arguments, obj=found, catch_exceptions=False)
    (comparison,) = found
    return comparison


def saved(path: Path, audit: Audit) -> Path:
    path.write_text(json_document.text(audit))
    return path


def test_without_options_the_audit_stays_as_it_is() -> None:
    assert given().applied(NOW) == (NOW, "")


def test_an_earlier_report_gives_the_trend(tmp_path: Path) -> None:
    audit, failure = given("--since", str(saved(tmp_path / "last.json", EARLIER))).applied(NOW)

    assert (audit.trend.previous, audit.trend.first_seen, failure) == (
        audits.WEEK_BEFORE,
        {"f1": audits.WEEK_BEFORE},
        "",
    )


def test_a_history_gives_the_trend_and_has_the_audit_from_now_on(tmp_path: Path) -> None:
    comparison = given("--history", str(tmp_path / "history.sqlite"))

    first, _ = comparison.applied(EARLIER)
    second, failure = comparison.applied(NOW)

    assert (first.trend.previous, second.trend.previous, failure) == ("", audits.WEEK_BEFORE, "")


def test_a_history_may_come_from_a_variable_so_that_its_password_is_in_no_list_of_processes() -> None:
    url = "postgresql://usher:secret@db/audits"

    assert given(variable=url).history == url


def test_a_history_that_fails_is_said_in_the_document_and_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit, failure = given("--history", str(tmp_path / "gone/history.sqlite")).applied(NOW)

    assert audit.findings == NOW.findings
    assert audit.trend.problems == (failure,)
    assert cli_audit.finish(0, failure) == 2
    assert capsys.readouterr().err == (
        f"usher: {tmp_path}/gone/history.sqlite: the history cannot be used: the folder {tmp_path}/gone does not "
        "exist; make it, or name another file; the report is written without trends\n"
    )


def test_an_audit_whose_history_works_keeps_its_exit_code() -> None:
    assert [cli_audit.finish(code, "") for code in (0, 1, 2)] == [0, 1, 2]


def test_a_history_and_an_earlier_report_are_one_too_many(tmp_path: Path) -> None:
    last = saved(tmp_path / "last.json", EARLIER)
    run = CliRunner().invoke(_command, ["--history", "a.sqlite", "--since", str(last)], obj=[])

    assert run.exit_code == 2
    assert "--history and --since both name earlier audits; give one of them" in run.output


def test_an_earlier_report_that_cannot_be_read_ends_the_command_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match=r"gone\.json: cannot be read: No such file or directory"):
        given("--since", str(tmp_path / "gone.json"))
