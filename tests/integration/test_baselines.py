"""`usher check --baseline`: known findings do not fail, new ones do, and the file can shrink by itself."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

import builders
from integration import command
from usher import paths

GREEDY = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})


@pytest.fixture
def work(tmp_path: Path) -> Path:
    write(tmp_path / "pods.yaml", builders.pod(GREEDY, name="old"))
    return tmp_path


def write(file: Path, *objects: paths.Object, before: str = "") -> None:
    file.write_text(before + yaml.safe_dump_all(objects))


def check(work: Path, *arguments: str) -> command.Run:
    return command.usher("check", ".", "--format", "json", *arguments, cwd=work)


def made(work: Path) -> Path:
    run = check(work, "--write-baseline", "known.json")
    assert run.code == 0, run.err
    return work / "known.json"


def known(file: Path) -> list[Any]:
    found: list[Any] = orjson.loads(file.read_bytes())["findings"]
    return found


def notes(run: command.Run) -> str:
    return " ".join(each["reason"] for each in run.json["notes"])


def codes(run: command.Run) -> list[tuple[str, str]]:
    return [(each["name"], finding["code"]) for each in run.json["workloads"] for finding in each["findings"]]


def test_known_findings_do_not_fail(work: Path) -> None:
    assert check(work).code == 1

    file = made(work)
    run = check(work, "--baseline", str(file))

    assert run.code == 0
    assert codes(run) == []
    assert notes(run) == "1 finding that the baseline knows"


def test_they_stay_known_when_lines_and_files_move(work: Path) -> None:
    file = made(work)
    (work / "pods.yaml").unlink()
    (work / "deep").mkdir()
    first = builders.container(name="first")
    write(work / "deep" / "moved.yaml", builders.pod(first, GREEDY, name="old"), before="# moved\n\n\n")

    assert check(work, "--baseline", str(file)).code == 0


def test_a_new_finding_fails_and_is_the_only_one_reported(work: Path) -> None:
    file = made(work)
    write(work / "more.yaml", builders.pod(GREEDY, name="new"))

    run = check(work, "--baseline", str(file))

    assert run.code == 1
    assert codes(run) == [("new", "USH201")]
    assert run.json["summary"]["findings"]["deny"] == 1


def test_a_second_finding_like_a_known_one_is_new(work: Path) -> None:
    file = made(work)
    write(work / "pods.yaml", builders.pod(GREEDY, {**GREEDY, "name": "other"}, name="old"))

    assert len(codes(check(work, "--baseline", str(file)))) == 1


def _job(pods: int, container: paths.Object = GREEDY) -> paths.Object:
    return builders.job(builders.template(container, restartPolicy="Never"), name="train", parallelism=pods)


def test_a_finding_about_more_pods_or_accelerators_is_new(work: Path) -> None:
    write(work / "job.yaml", _job(80, builders.container(gpus=1, env={"NVIDIA_VISIBLE_DEVICES": "all"})))
    file = made(work)

    for pods, gpus, code in ((80, 1, 0), (8, 1, 0), (80_000, 1, 1), (80, 8, 1)):
        write(work / "job.yaml", _job(pods, builders.container(gpus=gpus, env={"NVIDIA_VISIBLE_DEVICES": "all"})))
        assert check(work, "--baseline", str(file)).code == code, (pods, gpus)


def test_a_finding_about_another_value_is_new(work: Path) -> None:
    def pod(path: str) -> paths.Object:
        mounts: paths.Json = [{"name": "host", "mountPath": "/a"}]
        return builders.pod(
            {**builders.container(), "volumeMounts": mounts},
            name="old",
            volumes=[{"name": "host", "hostPath": {"path": path}}],
        )

    write(work / "pods.yaml", pod("/dev/nvidia0"))
    file = made(work)
    assert known(file), "the path is a finding"
    assert check(work, "--baseline", str(file)).code == 0

    write(work / "pods.yaml", pod("/dev/nvidia1"))

    assert check(work, "--baseline", str(file)).code == 1


def test_findings_that_are_gone_are_counted_and_removed_on_request_alone(work: Path) -> None:
    write(work / "more.yaml", builders.pod(GREEDY, name="mended"))
    file = made(work)
    before = file.read_bytes()
    write(work / "more.yaml", builders.pod(name="mended"))

    run = check(work, "--baseline", str(file))
    assert "1 finding of it is gone (--ratchet removes it)" in notes(run)
    assert file.read_bytes() == before

    check(work, "--baseline", str(file), "--ratchet")
    assert [each["name"] for each in known(file)] == ["old"]


def test_a_ratchet_adds_nothing(work: Path) -> None:
    file = made(work)
    write(work / "more.yaml", builders.pod(GREEDY, name="new"))

    run = check(work, "--baseline", str(file), "--ratchet")

    assert run.code == 1
    assert [each["name"] for each in known(file)] == ["old"]


def test_a_run_that_failed_writes_no_baseline(work: Path) -> None:
    (work / "broken.yaml").write_text("apiVersion: v1\nkind: [")

    assert check(work, "--write-baseline", "known.json").code == 2
    assert not (work / "known.json").exists()


def test_a_baseline_in_the_tree_is_not_read_as_a_manifest(work: Path) -> None:
    file = made(work)

    assert check(work, "--baseline", str(file)).json["summary"]["ignored"] == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--baseline", "missing.json"), "missing.json: cannot be read: No such file"),
        (("--baseline", "pods.yaml"), "pods.yaml: not a baseline"),
        (("--ratchet",), "--ratchet needs --baseline FILE"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_an_error(work: Path, arguments: tuple[str, ...], told: str) -> None:
    run = check(work, *arguments)

    assert run.code == 2
    assert told in run.err
