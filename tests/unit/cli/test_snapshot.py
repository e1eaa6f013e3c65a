"""The objects of a cluster in files that `usher audit` can read, however many; or no files at all."""

import contextlib
import io
from pathlib import Path

import orjson
import pytest

import builders
from builders.existing import existing
from usher import errors
from usher.check import sources
from usher.check.batches import Batch, Item
from usher.cli import snapshot
from usher.cli.snapshot import ObjectFiles
from usher.documents import chunks

NODES = Batch(
    source="nodes",
    items=tuple(Item(value=existing(builders.node(f"node-{number:02}", gpus=8))) for number in range(40)),
    is_file=False,
)


SIZE = 1_000
"""Bytes after which a file ends in these tests."""


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_FILE_BYTES", SIZE)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("small_files")
def test_a_kind_with_many_objects_has_several_files_in_their_order(tmp_path: Path) -> None:
    with contextlib.closing(ObjectFiles(tmp_path / "objects")) as taken:
        taken.add(NODES)
        taken.write()

    files = sorted((tmp_path / "objects").glob("nodes-*"))
    largest = max(len(orjson.dumps(item.value)) for item in NODES.items)

    assert len(files) > 2
    assert all(path.stat().st_size < SIZE + 2 * largest for path in files)
    read = [item.value for batch in sources.read([*map(str, files)], stdin=io.BytesIO()) for item in batch.items]
    assert [each["metadata"] for each in read] == [item.value["metadata"] for item in NODES.items]


def test_a_file_is_far_smaller_than_what_a_reader_refuses() -> None:
    largest_of_etcd = 3 * 2**20

    assert snapshot._FILE_BYTES + largest_of_etcd < chunks.MAX_DOCUMENT_BYTES


@pytest.mark.usefixtures("small_files")
def test_the_folder_is_empty_until_all_files_are_complete(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    with contextlib.closing(ObjectFiles(folder)) as taken:
        taken.add(NODES)
        assert [name for name in names(folder) if not name.startswith(".")] == []

    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(errors.InputError, match=f"{tmp_path}/file/objects: the snapshot cannot be written: Not a dir"):
        ObjectFiles(tmp_path / "file" / "objects")
