"""A part is whole or missing: its record comes last, and a run goes on with what is missing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import fleets
from unit.audit.store import written
from usher import errors
from usher.audit.document import Gap
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
    """What could not be read may be readable now."""
    written.part(tmp_path, fleets.cluster(1, gaps=(Gap(source="pods", reason="HTTP status 500"),)), HALF)

    assert not is_done(tmp_path)


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
