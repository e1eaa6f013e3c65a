"""An audit reads dumps of a cluster twice and never holds them; it holds manifests, and what cannot be read twice."""

import io
import json
import os
import threading
from pathlib import Path

import pytest

import builders
from builders.existing import existing, running
from usher import paths
from usher.audit.gather import dumps
from usher.audit.gather.dumps import DumpFiles, Survey
from usher.check import sources
from usher.check.batches import Batch
from usher.check.sources import File

DEPLOYMENT = existing(builders.deployment(name="llm"))
POD = running("llm-1", owner=DEPLOYMENT)


def written(path: Path, *values: paths.Object) -> Path:
    path.write_text("\n---\n".join(map(json.dumps, values)))
    return path


def read(*files: Path) -> DumpFiles:
    found = sources.find_files([str(each) for each in files], stdin=io.BytesIO())
    return dumps.read_files(found, survey=Survey({}))


def test_only_files_with_a_manifest_are_held(tmp_path: Path) -> None:
    files = read(
        written(tmp_path / "dump.yaml", DEPLOYMENT, POD),
        written(tmp_path / "both.yaml", POD, builders.job()),
        written(tmp_path / "manifests.yaml", builders.job()),
    )

    held = [isinstance(each, Batch) for each in files.found]

    assert held == [False, True, True]
    assert [Path(each.source).name for each in files.manifests] == ["both.yaml", "manifests.yaml"]


def test_a_dump_that_is_read_again_is_settled_by_all_files(tmp_path: Path) -> None:
    files = read(written(tmp_path / "pods.yaml", POD), written(tmp_path / "owners.yaml", DEPLOYMENT))

    pods, owners = files.batches()

    assert (pods.items, pods.owned, pods.aside) == ((), 1, (POD,))
    assert [item.value for item in owners.items] == [DEPLOYMENT]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    writer = threading.Thread(target=written, args=(pipe, POD))
    writer.start()

    files = read(pipe)
    writer.join()

    assert [item.value for batch in files.batches() for item in batch.items] == [POD]


def test_a_dump_that_is_gone_before_it_is_read_again_is_a_problem(tmp_path: Path) -> None:
    files = read(path := written(tmp_path / "dump.yaml", POD))
    path.unlink()

    (batch,) = files.batches()

    assert [each.reason for each in batch.problems] == ["cannot be read: no such file or directory"]


@pytest.mark.parametrize("named", ["dump.yaml", "."])
def test_files_are_regular_whether_named_or_found(tmp_path: Path, named: str) -> None:
    written(tmp_path / "dump.yaml", POD)

    (found,) = read(tmp_path / named).found

    assert isinstance(found, File)
