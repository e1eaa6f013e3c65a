"""The list of clusters of a run: a merge names those that wrote no part."""

from pathlib import Path

import pytest

from builders import fleets
from unit.audit.store import written
from usher.audit.document.fleet_document import ProblemKind
from usher.audit.store import audit_parts, part_stores

OLDER = "2026-11-16T06:00:00Z"
NAMES = ("cluster-1", "cluster-2", "cluster-3")


def listed(folder: Path | str, *names: str, began: str = fleets.TAKEN) -> None:
    audit_parts.write_cluster_list(part_stores.store_at(str(folder)), names or NAMES, began=began)


def missing(*folders: Path) -> list[str]:
    found = written.merged(*folders)
    assert found.complete == (not found.summary.clusters_missing)
    return [each.cluster for each in found.problems if each.kind is ProblemKind.ABSENT]


def test_a_cluster_without_a_part_is_named_with_its_shard(tmp_path: Path) -> None:
    listed(tmp_path)
    for seed in (1, 3):
        written.part(tmp_path, fleets.cluster(seed))

    assert missing(tmp_path) == ["cluster-2"]
    assert "look at the run of --shard 1/3" in written.merged(tmp_path).problems[0].reason


def test_a_fleet_with_all_of_its_parts_is_complete(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        listed(tmp_path, began=f"2026-11-23T0{seed}:00:00Z")
        written.part(tmp_path, fleets.cluster(seed))

    assert missing(tmp_path) == []


def test_the_lists_of_several_fleets_count_together(tmp_path: Path) -> None:
    listed(tmp_path / "eu", "cluster-1", "cluster-2")
    listed(tmp_path / "us", "cluster-2", "cluster-9")
    written.part(tmp_path / "eu", fleets.cluster(1))

    assert missing(tmp_path) == ["cluster-2", "cluster-9"]
    assert missing(tmp_path / "eu", tmp_path / "us") == ["cluster-2", "cluster-9"]


def test_a_list_of_an_earlier_run_names_clusters_that_may_be_gone(tmp_path: Path) -> None:
    listed(tmp_path, began=OLDER)
    listed(tmp_path, "cluster-1")
    written.part(tmp_path, fleets.cluster(1))

    assert missing(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"began": "x", "names": ["a"]}', b"\xff"])
def test_a_list_that_cannot_be_read_names_nothing(tmp_path: Path, content: bytes) -> None:
    written.part(tmp_path, fleets.cluster(1))
    (tmp_path / "clusters-0" / audit_parts.LIST_NAME).parent.mkdir()
    (tmp_path / "clusters-0" / audit_parts.LIST_NAME).write_bytes(content)

    assert missing(tmp_path) == []


def test_lists_are_kept_in_object_stores(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}-listed"
    listed(place)
    written.part(place, fleets.cluster(1))

    assert written.merged(place).summary.clusters_missing == 2
