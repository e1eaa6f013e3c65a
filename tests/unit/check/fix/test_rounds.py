"""Rounds of changes end, keep what works, and take back what usher cannot judge."""

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from usher.check import findings, judging, runner, sources
from usher.check.batches import Batch
from usher.check.fix import remedies, rounds
from usher.config import models
from usher.policy import assembly

SETTINGS = judging.Settings(command=findings.Command.CHECK, mutated=True, diff=True)
POD = b"""\
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
  - name: m
    image: x
    resources:
      limits:
        nvidia.com/gpus: 1
"""

Judge = Callable[[Sequence[Batch]], findings.Report]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    evaluator = assembly.embedded(models.Config(), file=None)
    with contextlib.closing(evaluator.engine):
        yield lambda batches: runner.run(batches, evaluator=evaluator, settings=SETTINGS)


def read(batch: Batch) -> bytes:
    return Path(batch.source).read_bytes()


def fixed(file: Path, judge: Judge, reading: Callable[[Batch], bytes] = read) -> rounds.Fixed:
    batches = list(sources.read([str(file)], stdin=io.BytesIO()))
    return rounds.fix(batches, judge=judge, read=reading, choice=remedies.Choice(names=remedies.names_of_devices()))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "pod.yaml").write_bytes(POD)
    return tmp_path / "pod.yaml"


def test_a_remedy_makes_room_for_a_mutation_in_the_next_round(file: Path, judge: Judge) -> None:
    (done,) = fixed(file, judge).files

    assert [each.wish.key for each in done.done] == ["resources/misspelt_accelerator_name", "placement/gpu_toleration"]
    assert b"nvidia.com/gpu: 1\n  tolerations:\n" in done.content
    assert file.read_bytes() == POD


def test_a_file_that_changed_in_between_is_not_changed(file: Path, judge: Judge) -> None:
    (done,) = fixed(file, judge, reading=lambda _batch: POD.replace(b"name: a", b"name: b")).files

    assert not done.changed
    assert done.problem.endswith("the file changed while usher read it; run usher fix again")


def test_an_object_that_usher_fails_to_judge_stays_as_it_was(file: Path, judge: Judge) -> None:
    calls: list[int] = []

    def failing(batches: Sequence[Batch]) -> findings.Report:
        calls.append(1)
        report = judge(batches)
        identity = report.results[0].identity
        failure = findings.Failure(source="pod.yaml", line=1, identity=identity, reason="the engine failed")
        return report if len(calls) == 1 else replace(report, failures=(failure,))

    result = fixed(file, failing)

    (done,) = result.files
    assert not done.changed
    assert [left.reason for left in done.left] == ["usher could not judge the object afterwards; change it by hand"]
    assert result.incomplete
