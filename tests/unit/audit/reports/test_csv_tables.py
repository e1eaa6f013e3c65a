"""An audit as CSV: readable by any reader of RFC 4180, and never a formula in a spreadsheet."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_documents as audits
from usher.audit.document import Audit, Usage
from usher.audit.reports import data_tables


def rows(audit: Audit, name: str) -> list[dict[str, str]]:
    content = dict(data_tables.csv_files(audit))[f"{name}.csv"].decode()
    return list(csv.DictReader(io.StringIO(content, newline=""), strict=True))


def message(text: str) -> str:
    (row,) = rows(audits.audit(findings=(audits.finding(message=text),)), "findings")
    return row["message"]


def test_each_table_is_a_file_with_its_columns_also_without_rows() -> None:
    files = dict(data_tables.csv_files(audits.audit()))

    assert list(files) == [f"{each.name}.csv" for each in data_tables.TABLES]
    assert files["savings.csv"].startswith(b"cluster,taken,saving,api_version,")
    assert all(content.endswith(b"\r\n") for content in files.values())


def test_every_row_says_its_cluster_and_time() -> None:
    found = [row for table in data_tables.TABLES for row in rows(audits.full(), table.name)]

    assert len(found) > len(data_tables.TABLES)
    assert {(row["cluster"], row["taken"]) for row in found} == {("prod-eu", audits.TAKEN)}


def test_what_was_not_measured_is_empty_and_zero_is_zero() -> None:
    usage = Usage(gpus_now=8.0, allocated=0.0)
    (row,) = rows(audits.audit(workloads=(audits.workload(usage=usage),)), "workloads")

    assert (row["allocated"], row["idle"], row["pods_wanted"]) == ("0", "", "1")


def test_what_a_rule_would_have_prevented_is_a_row() -> None:
    (gang, toleration, warned) = rows(audits.full(), "prevented")
    assert (gang["denies"], warned["denies"], warned["gpus"]) == ("true", "false", "8")

    assert (gang["code"], gang["workloads"], gang["idle"], gang["stuck"]) == ("USH502", "1", "900.25", "208.5")
    assert (toleration["idle"], toleration["cost"]) == ("", "")


def test_lists_and_amounts_are_one_cell() -> None:
    (_, never) = rows(audits.full(), "findings")
    (running, _) = rows(audits.full(), "workloads")

    assert never["evidence"] == "16 GPUs in 2 nodes; 64 GPUs wanted"
    assert running["accelerators"] == "nvidia.com/gpu=8"


def test_numbers_have_no_exponent() -> None:
    (row,) = rows(audits.audit(workloads=(audits.workload(gpus=0.000001, pods_wanted=10**30),)), "workloads")

    assert (row["gpus"], row["pods_wanted"]) == ("0.000001", str(2**53 - 1))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\N{FULLWIDTH EQUALS SIGN}"])
def test_a_text_that_begins_like_a_formula_gets_an_apostrophe(start: str) -> None:
    assert message(f"{start}HYPERLINK(A1)").startswith("'")


@given(text=st.text(max_size=30))
def test_no_cell_begins_like_a_formula_or_holds_a_control_character(text: str) -> None:
    cell = message(text)

    assert cell.isprintable()
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_a_plain_text_stays_as_it_is() -> None:
    assert message('he said "8, not 4"') == 'he said "8, not 4"'
