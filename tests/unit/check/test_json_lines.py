"""Dumps with an object on each line are read a few lines at a time, however large they are."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

import builders
from builders.existing import existing, running
from usher import paths
from usher.audit.gather import dumps
from usher.audit.gather.dumps import Lines, Survey
from usher.check import sources
from usher.check.batches import Batch
from usher.documents import chunks

_AT_ONCE: Final = 4_000
_LARGEST: Final = 40_000


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the real ones, a few hundred times smaller."""
    monkeypatch.setattr(dumps, "LARGE_FILE", 8_000)
    monkeypatch.setattr(dumps, "_BYTES_AT_ONCE", _AT_ONCE)
    monkeypatch.setattr(chunks, "MAX_DOCUMENT_BYTES", 8_000)
    monkeypatch.setattr(chunks, "MAX_FILE_BYTES", _LARGEST)


def _write(folder: Path, objects: Sequence[paths.Object | str], *, name: str = "dump.json") -> Path:
    file = folder / name
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in objects))
    return file


def _pods(number: int) -> list[paths.Object]:
    return [running(f"pod-{each}", 1, node="gpu-0") for each in range(number)]


def _read(*files: Path) -> dumps.DumpFiles:
    found = sources.find_files([str(each) for each in files], stdin=io.BytesIO())
    return dumps.read_files(found, survey=Survey({}))


def _names(batches: Sequence[Batch]) -> list[str]:
    return [str(paths.resolve(item.value, "/metadata/name")) for batch in batches for item in batch.items]


def test_a_dump_above_the_limit_of_a_file_is_read_in_parts_that_are_not_held(tmp_path: Path) -> None:
    file = _write(tmp_path, _pods(200))
    assert file.stat().st_size > _LARGEST

    found = _read(file)

    parts = [each for each in found.found if isinstance(each, Lines)]
    assert len(parts) == len(found.found) > 10
    assert all(each.size <= _AT_ONCE for each in parts)
    assert sum(each.size for each in parts) == file.stat().st_size
    assert _names([*found.batches()]) == [f"pod-{each}" for each in range(200)]


def test_an_object_that_comes_again_in_a_later_part_counts_once(tmp_path: Path) -> None:
    pods = _pods(100)

    found = _read(_write(tmp_path, [*pods, *pods]))

    assert _names([*found.batches()]) == [f"pod-{each}" for each in range(100)]
    (note,) = found.together.notes
    assert note.reason == "100 stand in the files before, so each counts once"


def test_an_owner_and_its_objects_belong_together_across_parts(tmp_path: Path) -> None:
    job = existing(builders.job(name="train"))
    pods = [running(f"train-{each}", 1, node="gpu-0", owner=job) for each in range(100)]

    batches = [*_read(_write(tmp_path, [*pods, job])).batches()]

    assert _names(batches) == ["train"]
    assert sum(each.owned for each in batches) == 100


def test_a_line_that_is_not_json_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    file = _write(tmp_path, [*_pods(50), '{"kind" oops}', *_pods(10)])

    problems = [each for batch in _read(file).batches() for each in batch.problems]

    assert [(each.source, each.line) for each in problems] == [(str(file), 51)]


def test_a_line_above_the_limit_of_a_document_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    large = running("large", 1, node="gpu-0", labels={"long": "x" * 9_000})
    file = _write(tmp_path, [*_pods(20), large, *(running(f"late-{each}", 1, node="gpu-0") for each in range(20))])

    batches = [*_read(file).batches()]

    (problem,) = [each for batch in batches for each in batch.problems]
    assert (problem.line, problem.reason) == (21, "the document is larger than 0 MiB; split it")
    assert _names(batches)[-1] == "late-19"
    assert "large" not in _names(batches)


def test_the_last_line_may_lack_its_end(tmp_path: Path) -> None:
    file = _write(tmp_path, _pods(50))
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))

    assert _names([*_read(file).batches()])[-1] == "pod-49"


@pytest.mark.parametrize(
    "objects",
    [
        [{"apiVersion": "v1", "kind": "List", "items": _pods(200)}],
        [builders.pod(builders.container(gpus=1), name=f"manifest-{number}") for number in range(300)],
        ["apiVersion: v1", "kind: Pod", "metadata: {name: x, uid: y}", "---"] * 1000,
    ],
    ids=["one list", "manifests", "YAML"],
)
def test_a_file_that_is_too_large_and_has_no_object_of_a_cluster_on_each_line_says_how_to_write_it(
    tmp_path: Path, objects: list[paths.Object | str]
) -> None:
    file = _write(tmp_path, objects)
    assert file.stat().st_size > _LARGEST

    (batch,) = _read(file).batches()

    (problem,) = batch.problems
    assert problem.reason.endswith("as a line for each object: of a List in JSON, jq -c '.items[]' does that")


def test_a_smaller_file_is_read_as_a_whole(tmp_path: Path) -> None:
    file = _write(tmp_path, _pods(5))

    (found,) = _read(file).found

    assert found == sources.File(file, explicit=True, size=file.stat().st_size)
