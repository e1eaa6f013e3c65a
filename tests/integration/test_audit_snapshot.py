"""A snapshot with objects: `usher audit` gives the report of the cluster itself."""

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import builders
from builders.existing import existing, running, waiting
from integration import command
from integration.api_server import ApiServer, status

OF_THE_SOURCE = ("cluster", "completeness", "taken", "configuration", "readiness")
"""Parts that differ: where the audit read, and when. The checklist compares with the version of the API server."""


def cluster(api: ApiServer) -> None:
    """A node, a Deployment with a running pod and a waiting one, and a DaemonSet that only the checklist looks at."""
    template = builders.template(builders.container("main", gpus=4, env={"HF_TOKEN": "hf_private"}), restartPolicy=None)
    deployment = existing(builders.deployment(template, replicas=2, name="llm"), uid="llm")
    replica_set = existing(builders.replica_set(template, replicas=2, name="llm-1"), uid="llm-1", owner=deployment)
    api.add(
        existing(builders.node("gpu-0", gpus=8, labels={"nvidia.com/gpu.present": "true"}), uid="gpu-0"),
        deployment,
        replica_set,
        running("llm-1-a", node="gpu-0", gpus=4, owner=replica_set),
        waiting("llm-1-b", gpus=4, owner=replica_set),
        existing(builders.daemon_set(name="nvidia-device-plugin"), uid="plugin"),
    )


def document(run: command.Run) -> dict[str, Any]:
    assert run.code == 0, run.err
    kept = {key: value for key, value in run.json.items() if key not in OF_THE_SOURCE}
    return {**kept, "summary": {**kept["summary"], "readiness": None}}


def test_the_saved_objects_of_a_cluster_make_its_report(api: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    cluster(api)
    facts, objects = tmp_path / "cluster.json.gz", tmp_path / "objects"

    taken = command.usher("snapshot", "-o", facts, "--objects", objects, "--kubeconfig", kubeconfig)
    live = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "json")
    saved = command.usher("audit", objects, "--facts", facts, "--format", "json")

    assert taken.code == 0, taken.err
    assert "objects/: " not in taken.out
    assert live.json["summary"]["gpusAllocated"] == 4
    assert live.json["summary"]["gpusWaiting"] == 4
    assert document(saved) == document(live)
    items = {each["id"]: each["standing"] for each in saved.json["readiness"]}
    assert items["device-plugin"] == {each["id"]: each["standing"] for each in live.json["readiness"]}["device-plugin"]
    assert "hf_private" not in "".join(file.read_text() for file in objects.iterdir())


def test_a_folder_that_holds_something_is_refused_and_stays(api: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    cluster(api)
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "pods-0.json").write_text("of another cluster")

    run = command.usher(
        *("snapshot", "-o", tmp_path / "facts", "--objects", tmp_path / "objects", "--kubeconfig", kubeconfig)
    )

    assert run.code == 2
    assert "is not empty (pods-0.json); name a new folder" in run.err
    assert [file.name for file in (tmp_path / "objects").iterdir()] == ["pods-0.json"]
    assert not (tmp_path / "facts").exists()


def test_workloads_and_objects_come_from_one_list(api: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    cluster(api)
    workloads, objects = tmp_path / "workloads.jsonl", tmp_path / "objects"

    run = command.usher(
        *("snapshot", "-o", tmp_path / "facts", "--workloads", workloads, "--objects", objects),
        *("--kubeconfig", kubeconfig),
    )

    assert run.code == 0, run.err
    assert f"{workloads}: 3 workloads, " in run.out
    assert f"{objects}: " in run.out
    assert [path for path, _ in api.requests].count("/apis/apps/v1/deployments") == 1


@pytest.mark.parametrize("path", ["/api/v1/pods", "/apis/apps/v1/deployments"])
def test_an_audit_of_a_partial_snapshot_says_what_was_not_read(
    api: ApiServer, kubeconfig: Path, tmp_path: Path, path: str
) -> None:
    cluster(api)
    api.troubles.append(lambda asked, _: status(403, "it is forbidden") if asked == path else None)
    options = ("snapshot", "-o", tmp_path / "facts", "--objects", tmp_path / "objects", "--kubeconfig", kubeconfig)

    refused, partial = command.usher(*options), command.usher(*options, "--partial")
    saved = command.usher("audit", tmp_path / "objects", "--format", "json")

    assert (refused.code, partial.code, saved.code) == (2, 2, 2)
    assert f"{tmp_path}/objects is not written" in refused.err
    (gap,) = saved.json["completeness"]["gaps"]
    assert "it is forbidden" in gap["reason"]
    assert path.rpartition("/")[2] in gap["reason"]


@contextlib.contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file gets larger than `size` bytes meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.full_disk
def test_a_full_disk_leaves_no_half_of_a_snapshot(api: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    cluster(api)
    folder = tmp_path / "objects"

    with full_disk(200):
        run = command.usher("snapshot", "-o", tmp_path / "facts", "--objects", folder, "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert run.err.endswith(": the snapshot cannot be written: File too large\n")
    assert not folder.exists()


def test_two_snapshots_do_not_mix_in_a_folder(api: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    """The second may have seen the folder empty: only one can make the hidden folder."""
    cluster(api)
    folder = tmp_path / "objects"
    (folder / ".partial").mkdir(parents=True)

    run = command.usher("snapshot", "-o", tmp_path / "facts", "--objects", folder, "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert run.err == (
        f"usher: {folder}: another snapshot is being written there, or one was killed; name a new folder, or remove "
        f"{folder}/.partial if no snapshot runs\n"
    )
    assert (folder / ".partial").exists()


def test_an_interrupted_snapshot_leaves_nothing(
    api: ApiServer, kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(api)
    folder = tmp_path / "objects"

    def interrupt(_self: object, _batch: object) -> None:
        assert (folder / ".partial").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("usher.cli.snapshot.ObjectFiles.add", interrupt)

    run = command.usher("snapshot", "-o", tmp_path / "facts", "--objects", folder, "--kubeconfig", kubeconfig)

    assert run.code != 0
    assert not folder.exists()
    assert not (tmp_path / "facts").exists()
