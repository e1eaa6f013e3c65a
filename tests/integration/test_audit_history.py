"""`usher audit --history` and `--since`: what a user sees from one audit to the next."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from integration.command import Run, bad, good, usher, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "jobs" / "bad.yaml", bad())
    return tmp_path


def audit(folder: Path, *arguments: str, day: int = 23) -> Run:
    """An audit of the cluster `prod`, at six on a day in November."""
    with mock.patch("usher.cli.audit.datetime") as clock:
        clock.now.return_value = datetime(2026, 11, day, 6, tzinfo=UTC)
        return usher("audit", "jobs", "--cluster-name", "prod", *arguments, cwd=folder)


def fix(folder: Path) -> None:
    write(folder / "jobs" / "bad.yaml", good())


def test_what_was_fixed_is_in_the_text_of_the_next_audit(folder: Path) -> None:
    audit(folder, "--history", "audits.sqlite", day=16)
    fix(folder)

    run = audit(folder, "--history", "audits.sqlite")

    assert (run.code, run.err) == (0, "")
    assert re.search(r"^Since 2026-11-16 06:00 UTC: 0 new findings, \d fixed$", run.out, re.MULTILINE)
    assert re.search(r"fixed  USH103 Job ml-research/bad: .*, after 7 days", run.out)


def test_an_earlier_report_shows_the_same(folder: Path) -> None:
    audit(folder, "--format", "json=last.json", day=16)
    fix(folder)

    assert "fixed  USH103 Job ml-research/bad" in audit(folder, "--since", "last.json").out


def test_a_history_that_cannot_be_used_costs_the_trends_alone(folder: Path) -> None:
    run = audit(folder, "--history", "gone/audits.sqlite", "--format", "text=audit.txt")

    assert run.code == 2
    assert run.err == (
        "usher: gone/audits.sqlite: the history cannot be used: the folder gone does not exist; make it, or name "
        "another file; the report is written without trends\n"
    )
    assert "USH103" in (folder / "audit.txt").read_text()


@pytest.mark.parametrize("url", ["mysql://x/y", "https://x/y"])
def test_a_database_that_cannot_hold_a_history_is_refused_before_the_audit(folder: Path, url: str) -> None:
    run = audit(folder, "--history", url)

    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"usher: a history cannot be in {url.partition(':')[0]}://; name a file of SQLite, or "
        "postgresql://USER@HOST/DATABASE\n"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cluster": {"name": "other"}}, "the earlier report is of cluster other, so it is not compared with this one"),
        ({"taken": "2126-11-16T06:00:00Z"}, "the earlier report is of 2126-11-16T06:00:00Z, which is not earlier than"),
    ],
    ids=["another cluster", "a later time"],
)
def test_a_comparison_that_was_asked_for_and_is_not_made_ends_as_failed(
    folder: Path, change: dict[str, Any], said: str
) -> None:
    audit(folder, "--format", "json=last.json", day=16)
    last = folder / "last.json"
    last.write_text(json.dumps(json.loads(last.read_text()) | change))

    run = audit(folder, "--since", "last.json", "--format", "text=audit.txt")

    assert run.code == 2
    assert run.err.startswith(f"usher: {said}")
    assert run.err.endswith("; the report is written without trends\n")
    assert "USH103" in (folder / "audit.txt").read_text()


def test_an_earlier_report_of_no_time_is_refused_before_the_audit(folder: Path) -> None:
    audit(folder, "--format", "json=last.json", day=16)
    last = folder / "last.json"
    last.write_text(json.dumps(json.loads(last.read_text()) | {"taken": "yesterday"}))

    run = audit(folder, "--since", "last.json")

    assert (run.code, run.out) == (2, "")
    assert "last.json: not an audit document: taken: 'yesterday' is not a time of ISO 8601" in run.err


def test_a_list_of_findings_as_earlier_report_is_refused_before_the_audit(folder: Path) -> None:
    audit(folder, "--format", "findings=last.json")

    run = audit(folder, "--since", "last.json")

    assert (run.code, run.out) == (2, "")
    assert "last.json: a list of findings (kind Report), without the rest of an audit" in run.err


def test_a_part_of_a_cluster_has_no_history(folder: Path) -> None:
    run = audit(folder, "--history", "audits.sqlite", "--shard", "0/2", "--output-dir", "parts")

    assert run.code == 2
    assert "a shard is a part of a cluster; leave out --history and --since" in run.err


def test_report_objects_need_a_cluster(folder: Path) -> None:
    run = audit(folder, "--report-objects", "openreports")

    assert run.code == 2
    assert "--report-objects writes into a cluster; leave out --demo and PATH" in run.err
