"""An audit as Parquet: every value comes back with its type, whatever names hold."""

import builtins
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import generated_examples
from builders import audit_documents as audits
from usher import errors
from usher.audit.document import Audit
from usher.audit.reports import data_tables


def back(audit: Audit, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Each table as it is read again, row by row."""
    connection = duckdb.connect(":memory:")
    tables = {}
    for name, content in data_tables.parquet_files(audit):
        (folder / name).write_bytes(content)
        found = connection.read_parquet(str(folder / name))
        tables[Path(name).stem] = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    connection.close()
    return tables


def test_every_table_comes_back_as_it_was(tmp_path: Path) -> None:
    assert back(audits.full(), tmp_path) == {each.name: list(each.rows(audits.full())) for each in data_tables.TABLES}


def test_a_table_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    files = dict(data_tables.parquet_files(audits.audit()))
    (tmp_path / "savings.parquet").write_bytes(files["savings.parquet"])
    connection = duckdb.connect(":memory:")

    found = connection.read_parquet(str(tmp_path / "savings.parquet"))

    table = next(each for each in data_tables.TABLES if each.name == "savings")
    assert found.columns == [each.name for each in table.columns]
    assert [str(each) for each in found.types] == [each.type.value for each in table.columns]
    connection.close()


def test_the_same_audit_gives_the_same_bytes() -> None:
    assert list(data_tables.parquet_files(audits.full())) == list(data_tables.parquet_files(audits.full()))


@pytest.mark.costly
@settings(
    max_examples=generated_examples.up_to(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(max_size=20) | st.sampled_from(["\x00\x1b[31m", "\u202e'\"\\", "{}\n[]", "a" * 70_000]))
def test_any_name_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    tables = back(audits.audit(findings=(audits.finding(message=text, evidence=(text,)),)), tmp_path)

    assert tables["findings"][0]["message"] == text
    assert tables["findings"][0]["evidence"] == [text]


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    tables = back(audits.audit(findings=(audits.finding(message="a\ud800b"),)), tmp_path)

    assert tables["findings"][0]["message"] == "a?b"


def test_a_number_that_is_not_finite_is_null(tmp_path: Path) -> None:
    tables = back(audits.audit(workloads=(audits.workload(gpus=float("inf"), pods_wanted=10**30),)), tmp_path)

    assert (tables["workloads"][0]["gpus"], tables["workloads"][0]["pods_wanted"]) == (None, 2**53 - 1)


def test_without_duckdb_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: Callable[..., Any] = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "duckdb":
            raise ImportError(name)
        return imported(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(errors.InputError, match=r"pip install 'gpu-usher\[report\]'"):
        list(data_tables.parquet_files(audits.audit()))
