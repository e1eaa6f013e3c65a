"""A part is whole or missing: its record comes last, and a run goes on with what is missing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import fleets
from generated_examples import in_turn
from unit.audit.store import written
from usher import errors
from usher.audit.document import Gap
from usher.audit.document.fleet_document import ProblemKind
from usher.audit.store import audit_parts, part_stores
from usher.audit.store.shards import Shard

WHOLE = fleets.cluster(1, workloads=20)
HALF = Shard(index=1, of=2)


def is_done(folder: Path, shard: Shard = HALF, *, cluster_id: str = "") -> bool:
    return audit_parts.is_done(part_stores.store_at(str(folder)), written.key(WHOLE, shard, cluster_id=cluster_id))


def files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file())


def test_a_part_with_its_record_is_done(tmp_path: Path) -> None:
    assert not is_done(tmp_path)
    written.part(tmp_path, WHOLE, HALF)

    assert is_done(tmp_path)
    assert not is_done(tmp_path, Shard(index=0, of=2))
    assert not is_done(tmp_path, Shard(index=1, of=3))
    assert not is_done(tmp_path, cluster_id="another cluster of this name")


@pytest.mark.costly
def test_a_shard_that_ends_between_two_files_has_no_record_and_is_written_again(tmp_path: Path) -> None:
    def killed() -> Iterator[tuple[str, bytes, int]]:
        tables = audit_parts.tables_of(WHOLE)
        yield next(tables)
        yield next(tables)
        raise KeyboardInterrupt

    store, key = part_stores.store_at(str(tmp_path)), written.key(WHOLE, HALF)
    with pytest.raises(KeyboardInterrupt):
        audit_parts.write_part(store, key, WHOLE, killed(), version="0.1.0")

    assert len(files(tmp_path)) == 2
    assert not is_done(tmp_path)
    with pytest.raises(errors.InputError, match="no usable part"):
        written.merged(tmp_path)

    written.part(tmp_path, WHOLE, HALF)
    assert is_done(tmp_path)
    assert written.merged(tmp_path).summary.workloads == 20


@pytest.mark.parametrize("change", ["cut", "deleted", "changed"])
def test_a_part_whose_file_is_damaged_is_not_done(tmp_path: Path, change: str) -> None:
    written.part(tmp_path, WHOLE, HALF)
    (file,) = [each for each in files(tmp_path) if each.name.startswith("findings-")]
    content = file.read_bytes()
    if change == "deleted":
        file.unlink()
    else:
        file.write_bytes(content[:-1] if change == "cut" else content[:-1] + b"?")

    assert not is_done(tmp_path)


def test_an_incomplete_part_is_audited_again(tmp_path: Path) -> None:
    """Unreadable objects may be readable now."""
    written.part(tmp_path, fleets.cluster(1, gaps=(Gap(source="pods", reason="HTTP status 500"),)), HALF)

    assert not is_done(tmp_path)


@pytest.mark.costly
def test_two_writers_of_one_part_never_mix(tmp_path: Path) -> None:
    """The pod of an index may be replaced while the old one still runs."""
    other = fleets.cluster(2, workloads=33, name=WHOLE.cluster.name)
    store, key = part_stores.store_at(str(tmp_path)), written.key(WHOLE)

    def overtaken() -> Iterator[tuple[str, bytes, int]]:
        tables = list(audit_parts.tables_of(WHOLE))
        yield from tables[:4]
        written.part(tmp_path, other)
        yield from tables[4:]

    audit_parts.write_part(store, key, WHOLE, overtaken(), version=fleets.VERSION)

    fleet = written.merged(tmp_path)
    assert fleet.problems == ()
    assert fleet.summary.workloads == 20


def test_a_full_disk_leaves_no_record(tmp_path: Path) -> None:
    (tmp_path / audit_parts.part_folder(WHOLE.cluster.name, "", Shard())).mkdir(parents=True)
    target = tmp_path / audit_parts.part_folder(WHOLE.cluster.name, "", Shard())
    for table, content, _ in audit_parts.tables_of(WHOLE):
        if table == "gaps":
            import hashlib

            (target / f"gaps-{hashlib.sha256(content).hexdigest()[:16]}.parquet").mkdir()

    with pytest.raises(errors.InputError, match="cannot be written"):
        written.part(tmp_path, WHOLE)

    assert not list(tmp_path.rglob("record.json"))


def test_the_same_audit_makes_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        written.part(tmp_path / name, WHOLE)

    first, second = ({each.relative_to(tmp_path / name): each.read_bytes() for each in files(tmp_path / name)}
                     for name in ("a", "b"))  # fmt: skip
    assert first == second


def test_clusters_whose_names_look_the_same_have_folders_of_their_own() -> None:
    names = ["prod", "PROD", "prod/", "../prod", "prod\N{ZERO WIDTH SPACE}", "", "prod\0x"]
    folders = {audit_parts.part_folder(each, "", Shard()) for each in names}
    folders.add(audit_parts.part_folder("prod", "another id", Shard()))

    assert len(folders) == len(names) + 1
    assert all(".." not in each and each.count("/") == 1 for each in folders)


OLDER = "2026-11-16T06:00:00Z"
NAMES = ("cluster-1", "cluster-2", "cluster-3")


def listed(folder: Path | str, *names: str, began: str = fleets.TAKEN) -> None:
    audit_parts.write_cluster_list(part_stores.store_at(str(folder)), names or NAMES, began=began)


def missing(*folders: Path) -> list[str]:
    found = written.merged(*folders)
    assert found.complete == (not found.summary.clusters_missing)
    return [each.cluster for each in found.problems if each.kind is ProblemKind.ABSENT]


@pytest.mark.costly
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


@pytest.mark.costly
def test_the_lists_of_several_fleets_count_together(tmp_path: Path) -> None:
    listed(tmp_path / "eu", "cluster-1", "cluster-2")
    listed(tmp_path / "us", "cluster-2", "cluster-9")
    written.part(tmp_path / "eu", fleets.cluster(1))

    assert missing(tmp_path) == ["cluster-2", "cluster-9"]
    assert missing(tmp_path / "eu", tmp_path / "us") == ["cluster-2", "cluster-9"]


@pytest.mark.costly
def test_a_list_of_an_earlier_run_names_clusters_that_may_be_gone(tmp_path: Path) -> None:
    listed(tmp_path, began=OLDER)
    listed(tmp_path, "cluster-1")
    written.part(tmp_path, fleets.cluster(1))

    assert missing(tmp_path) == []


@pytest.mark.costly
@pytest.mark.parametrize("content", in_turn([b"", b"[]", b"{}", b'{"began": "x", "names": ["a"]}', b"\xff"], every=3))
def test_a_list_that_cannot_be_read_names_nothing(tmp_path: Path, content: bytes) -> None:
    written.part(tmp_path, fleets.cluster(1))
    (tmp_path / "clusters-0" / audit_parts.LIST_NAME).parent.mkdir()
    (tmp_path / "clusters-0" / audit_parts.LIST_NAME).write_bytes(content)

    assert missing(tmp_path) == []


@pytest.mark.costly
def test_lists_are_kept_in_object_stores(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}-listed"
    listed(place)
    written.part(place, fleets.cluster(1))

    assert written.merged(place).summary.clusters_missing == 2
