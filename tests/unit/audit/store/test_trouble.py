"""A merge says what is missing, doubled, damaged or of another version, and adds up the rest."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builders import fleets
from generated_examples import in_turn
from unit.audit.store import written
from usher import errors
from usher.audit.document import Gap, Subject
from usher.audit.document.fleet_document import Fleet, ProblemKind
from usher.audit.reports import fleet_report
from usher.audit.store import audit_parts

pytestmark = pytest.mark.costly

OLDER = "2026-11-16T06:00:00Z"


def kinds(fleet: Fleet) -> list[ProblemKind]:
    return [each.kind for each in fleet.problems]


def edited(folder: Path, change: Callable[[Any], object]) -> None:
    """Changes the records below a folder."""
    for file in folder.rglob(audit_parts.RECORD_NAME):
        value = json.loads(file.read_text())
        change(value)
        file.write_text(json.dumps(value))


def test_missing_shards_are_named(tmp_path: Path) -> None:
    whole = fleets.cluster(1, workloads=60)
    written.shards(tmp_path, whole, 5, without=[1, 3])

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.MISSING]
    assert fleet.problems[0].reason.startswith("shards 1, 3 of 5: ")
    assert not fleet.complete
    assert fleet.clusters[0].shards_missing == 2
    shares = [audit for shard, audit in fleets.shares(whole, 5) if shard.index not in (1, 3)]
    assert fleet.summary.workloads == sum(len(each.workloads) for each in shares)


def test_without_a_shard_it_is_not_known_which_gpus_are_free(tmp_path: Path) -> None:
    """Its pods hold some of those that the other shards leave."""
    written.shards(tmp_path, fleets.cluster(1, workloads=60), 3, without=[1])
    fleet = written.merged(tmp_path)
    assert (fleet.summary.gpus, fleet.summary.gpus_free, fleet.clusters[0].gpus_free) == (fleets.GPUS, None, None)
    assert "free not known: not all pods of 1 cluster were read" in shown(fleet)

    written.part(tmp_path, fleets.cluster(2))
    both = written.merged(tmp_path)
    assert both.summary.gpus_free == fleets.cluster(2).summary.gpus_free
    assert "on nodes that take new pods, without 1 cluster where they are not known" in shown(both)


def test_a_shard_that_could_not_read_its_pods_leaves_no_gpu_free(tmp_path: Path) -> None:
    for shard, audit in fleets.shares(fleets.cluster(1, workloads=60), 2):
        lacking = audit.summary.model_copy(update={"gpus_free": None, "gpus_allocated": None})
        written.part(tmp_path, audit.model_copy(update={"summary": lacking}) if shard.index else audit, shard)

    assert written.merged(tmp_path).summary.gpus_free is None


def test_what_no_cluster_knows_of_its_pods_is_not_0(tmp_path: Path) -> None:
    unread = dict.fromkeys(("gpus_allocated", "gpus_free", "gpus_waiting", "gpus_never", "workloads_never"))
    audit = fleets.cluster(1, workloads=0)
    written.part(tmp_path, audit.model_copy(update={"summary": audit.summary.model_copy(update=unread)}))

    fleet = written.merged(tmp_path)

    summary, (row,) = fleet.summary, fleet.clusters
    for found in (summary, row):
        assert (found.gpus_allocated, found.gpus_waiting, found.gpus_never, found.workloads_never) == (None,) * 4
    assert summary.clusters_without_pods == 1
    assert "allocated not known: usher has read the pods of no cluster" in shown(fleet)
    assert "never not known: usher knows of no cluster what waits there" in shown(fleet)


def shown(fleet: Fleet) -> str:
    """The text of its report, in one line."""
    stream = io.StringIO()
    fleet_report.write_text(fleet, stream)
    return " ".join(stream.getvalue().split())


def test_without_shard_0_the_nodes_are_not_known(tmp_path: Path) -> None:
    written.shards(tmp_path, fleets.cluster(1), 3, without=[0])
    written.part(tmp_path, fleets.cluster(2))

    summary = written.merged(tmp_path).summary

    assert summary.gpus == fleets.GPUS
    assert summary.gpus_free == fleets.cluster(2).summary.gpus_free
    assert summary.clusters_without_nodes == 1


def test_of_a_cluster_audited_twice_the_newest_counts(tmp_path: Path) -> None:
    newest = fleets.cluster(1, workloads=11)
    written.part(tmp_path / "old", fleets.cluster(1, workloads=50, taken=OLDER))
    written.part(tmp_path / "new", newest)

    for places in ([tmp_path], [tmp_path / "new", tmp_path / "old"], [tmp_path / "old", tmp_path / "new"]):
        fleet = written.merged(*places)
        assert kinds(fleet) == [ProblemKind.DOUBLED]
        assert fleet.summary.workloads == 11
        assert fleet.complete


def test_an_older_shard_does_not_stand_in_for_a_missing_one(tmp_path: Path) -> None:
    written.shards(tmp_path / "old", fleets.cluster(1, taken=OLDER), 4)
    written.shards(tmp_path / "new", fleets.cluster(1), 4, without=[2])

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.MISSING, ProblemKind.DOUBLED]
    assert fleet.oldest == fleets.TAKEN


def test_a_run_with_another_number_of_shards_replaces_the_one_before(tmp_path: Path) -> None:
    whole = fleets.cluster(1, taken="2026-11-23T05:00:00Z")
    written.shards(tmp_path, whole, 2)
    written.shards(tmp_path, fleets.cluster(1), 5)

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.DOUBLED]
    assert fleet.summary.workloads == 40
    assert fleet.summary.gpus == fleets.GPUS


def test_two_clusters_of_one_name_are_two_clusters(tmp_path: Path) -> None:
    for seed, cluster_id in ((1, "aaaaaaaa-1"), (2, "bbbbbbbb-2")):
        written.part(tmp_path, fleets.cluster(seed, name="kubernetes"), cluster_id=cluster_id)

    fleet = written.merged(tmp_path)

    assert sorted(each.name for each in fleet.clusters) == ["kubernetes (aaaaaaaa-1)", "kubernetes (bbbbbbbb-2)"]


def test_a_part_of_another_version_counts_and_is_said(tmp_path: Path) -> None:
    written.part(tmp_path, fleets.cluster(1), version="0.9.0")

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.VERSION]
    assert "0.9.0" in fleet.problems[0].reason
    assert fleet.clusters[0].workloads == 40


@pytest.mark.parametrize("table", ["prevented", "accelerators"])
def test_a_part_from_before_a_table_was_added_counts(tmp_path: Path, table: str) -> None:
    written.part(tmp_path, fleets.cluster(1))

    def without(value: Any) -> None:
        value["files"] = [each for each in value["files"] if each["table"] != table]

    edited(tmp_path, without)
    fleet = written.merged(tmp_path)

    assert fleet.problems == ()
    assert fleet.clusters[0].workloads == 40


def test_a_record_of_an_unknown_format_is_left_out(tmp_path: Path) -> None:
    written.part(tmp_path / "a", fleets.cluster(1))
    written.part(tmp_path / "b", fleets.cluster(2))
    edited(tmp_path / "b", lambda value: value.update(apiVersion="gpu-usher.io/v2"))

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.DAMAGED]
    assert "apiVersion" in fleet.problems[0].reason
    assert fleet.summary.clusters == 1


def test_an_incomplete_audit_makes_the_fleet_incomplete(tmp_path: Path) -> None:
    written.part(tmp_path, fleets.cluster(1, gaps=(Gap(source="pods", reason="HTTP status 500"),)))

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.INCOMPLETE]
    assert "pods: HTTP status 500" in fleet.problems[0].reason
    assert not fleet.complete


def test_a_cluster_that_no_longer_reports_is_said(tmp_path: Path) -> None:
    written.part(tmp_path, fleets.cluster(1))
    written.part(tmp_path, fleets.cluster(2, taken="2026-11-01T06:00:00Z"))

    assert kinds(written.merged(tmp_path)) == [ProblemKind.AGE]


@pytest.mark.parametrize(
    "damage", in_turn(["garbage", "empty", "cut", "deleted", "other table", "fewer rows"], every=2)
)
def test_damaged_parquet_is_left_out_as_a_whole(tmp_path: Path, damage: str) -> None:
    """Also where the record vouches for it: the digest says that a file is the written one, not that it is good."""
    written.part(tmp_path / "good", fleets.cluster(1))
    written.part(tmp_path / "bad", fleets.cluster(2))
    (file,) = (tmp_path / "bad").rglob("workloads-*.parquet")
    (other,) = (tmp_path / "bad").rglob("savings-*.parquet")
    content = {
        "garbage": b"PAR1" + bytes(range(256)) + b"PAR1",
        "empty": b"",
        "cut": file.read_bytes()[:-100],
        "other table": other.read_bytes(),
    }.get(damage, file.read_bytes())
    file.write_bytes(content)

    def vouch(value: Any) -> None:
        (entry,) = [each for each in value["files"] if each["table"] == "workloads"]
        entry["sha256"] = hashlib.sha256(content).hexdigest()
        entry["size"] = len(content)
        entry["rows"] -= damage == "fewer rows"

    edited(tmp_path / "bad", vouch)
    if damage == "deleted":
        file.unlink()

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.DAMAGED]
    assert "workloads" in fleet.problems[0].reason
    assert not fleet.complete
    assert (fleet.summary.clusters, fleet.summary.workloads, fleet.summary.gpus) == (1, 40, fleets.GPUS)


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "workloads-0123456789abcdef.parquet/../x", "*.parquet", "file:///etc/passwd"],
)
def test_a_record_cannot_name_files_elsewhere(tmp_path: Path, name: str) -> None:
    written.part(tmp_path, fleets.cluster(1))
    edited(tmp_path, lambda value: value["files"][0].update(name=name))

    with pytest.raises(errors.InputError, match=r"no usable part of an audit; the first: .*files\.0\.name"):
        written.merged(tmp_path)


@pytest.mark.parametrize(
    "content",
    in_turn(
        [b"", b"[]", b"{" * 100_000, b"\xff\xfe", b"null", b'{"taken": 1}', b" " * (audit_parts.MOST_RECORD_BYTES + 1)],
        every=3,
    ),
)
def test_a_record_that_is_not_one_is_said_and_left_out(tmp_path: Path, content: bytes) -> None:
    written.part(tmp_path, fleets.cluster(1))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / audit_parts.RECORD_NAME).write_bytes(content)

    fleet = written.merged(tmp_path)

    assert kinds(fleet) == [ProblemKind.DAMAGED]
    assert fleet.summary.clusters == 1


@pytest.mark.parametrize("taken", ["9999-99-99T99:99:99Z", "0000-00-00T00:00:00Z"])
def test_a_time_that_no_calendar_has_does_no_harm(tmp_path: Path, taken: str) -> None:
    written.part(tmp_path, fleets.cluster(1))
    edited(tmp_path, lambda value: value.update(taken=taken))

    assert written.merged(tmp_path).summary.clusters == 1


def test_hostile_names_stay_data(tmp_path: Path) -> None:
    name = "'; DROP TABLE findings; --\x1b[31m\u202e<script>=cmd()"
    whole = fleets.cluster(1, workloads=5, name=name)
    finding = fleets.finding("USH'; --", Subject(api_version="v1", kind="Pod", namespace=name, name=name), team=name)
    written.part(tmp_path, whole.model_copy(update={"findings": (finding,)}))

    fleet = written.merged(tmp_path)

    assert fleet.clusters[0].name == name
    assert [each.code for each in fleet.findings] == ["USH'; --"]
    (teams,) = [each for each in fleet.tables if each.by == "team"]
    assert [each.findings for each in teams.rows if each.name == name] == [1]


def test_numbers_that_are_not_numbers_are_not_measured(tmp_path: Path) -> None:
    """Parquet of others may hold infinity, which JSON cannot say."""
    written.part(tmp_path, fleets.cluster(1))
    (file,) = tmp_path.rglob("audits-*.parquet")
    changed = tmp_path / "changed"
    duckdb.sql(f"COPY (SELECT * REPLACE ('inf'::DOUBLE AS idle) FROM '{file}') TO '{changed}' (FORMAT parquet)")
    content = changed.read_bytes()
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    edited(tmp_path, lambda value: value["files"][0].update(sha256=digest, size=len(content)))

    assert written.merged(tmp_path).summary.usage.idle is None


def test_a_folder_without_parts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="no usable part"):
        written.merged(tmp_path)
    with pytest.raises(errors.InputError, match="no folder of this name"):
        written.merged(tmp_path / "missing")
