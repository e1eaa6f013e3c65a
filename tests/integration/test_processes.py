"""A run in several processes: the report of one, and an error where one of them fails."""

import io
import os
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
import yaml

import builders
from integration import command
from shared_files import OWN
from usher import errors, paths
from usher.check import findings, judging, processes, runner, sources
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator

pytestmark = pytest.mark.process

SETTINGS = judging.Settings(command=findings.Command.CHECK, mutated=True)
make = partial(assembly.embedded, models.Config())


def report(files: Sequence[sources.FileOrBatch], *, number: int) -> findings.Report:
    with processes.start_run(files, make=make, settings=SETTINGS, number=number) as run:
        evaluator = make()
        return runner.report(run.judge(evaluator), evaluator=evaluator, settings=SETTINGS)


def found(*arguments: Path) -> list[sources.FileOrBatch]:
    return list(sources.find_files([str(each) for each in arguments], stdin=io.BytesIO()))


def written(directory: Path, *objects: paths.Object) -> Path:
    for number, each in enumerate(objects):
        (directory / f"{number}.yaml").write_text(yaml.safe_dump(each))
    return directory


@pytest.mark.parametrize("number", [3, *(pytest.param(many, marks=pytest.mark.thorough) for many in (2, 100))])
def test_any_number_of_processes_gives_the_report_of_one(number: int) -> None:
    files = found(OWN.folder)

    assert report(files, number=number) == report(files, number=1)


def test_a_file_is_judged_with_its_neighbours_of_another_process(tmp_path: Path) -> None:
    reference: paths.Object = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    spec: paths.Object = {"scaleTargetRef": reference, "minReplicas": 2, "maxReplicas": 8}
    pod = builders.template(builders.container(gpus=1), labels={"app": "chat"}, annotations=None)
    written(
        tmp_path,
        builders.deployment(pod, name="chat"),
        builders.custom("autoscaling/v2", "HorizontalPodAutoscaler", spec, name="hpa"),
    )

    both = [report(found(tmp_path), number=number) for number in (1, 2)]

    assert both[0] == both[1]
    assert both[0].totals.pods.number == 8 + 2, "a rollout runs a quarter more"


def test_without_files_the_report_is_empty() -> None:
    assert report([], number=2).results == ()


def test_a_process_that_is_killed_ends_the_run_with_an_error() -> None:
    def killed() -> Evaluator:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    started = processes.start_run(found(OWN.folder), make=killed, settings=SETTINGS, number=2)
    with pytest.raises(errors.WorkerError, match=r"ended before .* \(signal 9\); try --jobs 1"), started as run:
        run.judge(make())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (errors.EngineError("the engine is broken"), "^the engine is broken$"),
        (KeyError("x"), "internal error in a process of this run"),
    ],
)
def test_an_error_of_a_process_is_that_of_the_run(error: Exception, told: str) -> None:
    def broken() -> Evaluator:
        raise error

    started = processes.start_run(found(OWN.folder), make=broken, settings=SETTINGS, number=2)
    with pytest.raises(errors.WorkerError, match=told), started as run:
        run.judge(make())


def test_the_command_says_the_same_with_one_and_with_three_jobs() -> None:
    one, three = (
        command.usher("check", str(OWN.folder), "--allow-unknown", "--jobs", str(number)) for number in (1, 3)
    )

    assert one == three


def test_a_process_is_started_for_a_hundred_files_and_not_for_few() -> None:
    small, large = (sources.File(Path("job.yaml"), explicit=True, size=size) for size in (1_000, 10**9))
    everything = len(os.sched_getaffinity(0))

    assert processes.default_number([small] * 3) == 1
    assert processes.default_number([small] * 10**5) == everything
    assert processes.default_number([large]) == everything


def in_one_file(directory: Path) -> Path:
    """All manifests of ours, with what is wrong with them, and a file of one object."""
    everything = directory / "all.yaml"
    everything.write_text("\n---\n".join(path.read_text() for path in sorted(OWN.folder.rglob("*.yaml"))))
    written(directory, builders.pod(gpus=1))
    return everything


@pytest.mark.parametrize("number", [2, 3])
def test_the_objects_of_a_large_file_are_divided_and_the_report_is_that_of_one_process(
    tmp_path: Path, number: int
) -> None:
    in_one_file(tmp_path)
    files = found(tmp_path)

    divided = report(files, number=number)

    assert divided.totals.files == 2
    assert divided.results
    assert divided == report(files, number=1)


@pytest.mark.parametrize("number", [1, 2])
def test_the_progress_within_a_large_file_counts_its_objects(tmp_path: Path, number: int) -> None:
    file, seen = in_one_file(tmp_path), list[tuple[str, int, int]]()

    with processes.start_run(found(file), make=make, settings=SETTINGS, number=number) as run:
        run.judge(make(), watch=lambda *progress: seen.append(progress))

    objects = len(sources.load(*found(file)).items)
    own = range(objects // number)
    assert seen == [("objects judged", min((each + 1) * number, objects), objects) for each in own]
