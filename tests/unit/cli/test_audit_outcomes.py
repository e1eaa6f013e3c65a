"""A run with an audit document: formats that read it get it, the others get the findings."""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import yaml

from builders import audit_documents as audits
from unit.check.formats import made
from usher import errors
from usher.audit.reports import data_tables
from usher.check import findings
from usher.cli import output

FOUND = made.full(findings.Command.AUDIT)
OUTCOME = output.Outcome(found=FOUND, audit=audits.full())


def written(*targets: output.Target, outcome: output.Outcome = OUTCOME) -> str:
    with redirect_stdout(io.StringIO()) as stream:
        output.write(outcome, targets, color="never")
    return stream.getvalue()


def to(name: str, path: Path | None = None) -> output.Target:
    return output.Target(format_name=name, path=path)


def test_json_is_the_audit_document() -> None:
    assert json.loads(written(to("json")))["kind"] == "Audit"


def test_yaml_has_the_values_of_json() -> None:
    assert yaml.safe_load(written(to("yaml"))) == json.loads(written(to("json")))


def test_one_run_writes_formats_of_findings_and_of_audits(tmp_path: Path) -> None:
    shown = written(to("github"), to("json", tmp_path / "audit.json"), to("junit", tmp_path / "audit.xml"))

    assert "::error file=" in shown
    assert json.loads((tmp_path / "audit.json").read_text())["summary"]["gpus"] == 16
    assert (tmp_path / "audit.xml").read_text().startswith("<?xml")


def test_json_without_an_audit_document_holds_the_findings() -> None:
    assert json.loads(written(to("json"), outcome=output.Outcome(found=FOUND)))["kind"] == "Report"


def test_a_format_of_audits_alone_is_refused_where_no_audit_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    only = output.Format(audit="usher.audit.reports.json_document:write", reader="spreadsheets")
    monkeypatch.setitem(output.FORMATS, "only", only)

    with pytest.raises(errors.InputError, match="a report for spreadsheets needs an audit document"):
        written(to("only"), outcome=output.Outcome(found=FOUND))


def test_a_format_of_audits_alone_belongs_to_no_other_command(monkeypatch: pytest.MonkeyPatch) -> None:
    only = output.Format(audit="usher.audit.reports.json_document:write", reader="spreadsheets")
    monkeypatch.setitem(output.FORMATS, "only", only)

    assert "only" in output.format_names(audits=True)
    assert "only" not in output.format_names(audits=False)


def test_a_folder_of_tables_is_made_and_its_old_files_replaced(tmp_path: Path) -> None:
    written(to("csv", tmp_path / "tables"))
    (tmp_path / "tables/audits.csv").write_text("old")
    written(to("csv", tmp_path / "tables"))

    assert (tmp_path / "tables/audits.csv").read_text().startswith("cluster,taken,")
    assert len(list((tmp_path / "tables").iterdir())) == len(data_tables.TABLES)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="gone/tables: the folder of the report cannot be made: No such file"):
        written(to("csv", tmp_path / "gone/tables"))
