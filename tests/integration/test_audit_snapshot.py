"""A snapshot with objects: `usher audit` gives the report of the cluster itself."""

from pathlib import Path
from typing import Any

import builders
from builders.existing import existing, running, waiting
from integration import command
from integration.api_server import ApiServer

OF_THE_SOURCE = ("cluster", "completeness", "taken", "configuration", "readiness")
"""What differs: where the audit read, and when. The checklist compares with the version of the API server."""


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
    assert "is not empty; name a new folder" in run.err
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
