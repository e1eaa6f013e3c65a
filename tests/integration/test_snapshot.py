"""`usher snapshot`, and decisions that use a written snapshot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import builders
from integration import api_server, command
from integration.api_server import ApiServer, status
from usher import paths

CLASSES = ("/apis/scheduling.k8s.io/v1", "priorityclasses")
NODES = ("/api/v1", "nodes")


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with api_server.running() as server:
        server.objects[CLASSES] = [priority_class("training")]
        server.objects[NODES] = []
        yield server


def priority_class(name: str) -> paths.Object:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1000}


def pod_of(priority: str) -> paths.Object:
    return builders.pod(builders.container(gpus=1), name=priority, priorityClassName=priority)


def codes(run: command.Run) -> dict[str, bool]:
    """Whether a class is said to be missing, by workload."""
    return {
        workload["name"]: any(finding["code"] == "USH620" for finding in workload["findings"])
        for workload in run.json["workloads"]
        if workload["kind"] == "Pod"
    }


def test_manifests_are_judged_by_a_snapshot_as_by_the_cluster(kubeconfig: Path, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json.gz"
    taken = command.usher("snapshot", "--output", file, "--kubeconfig", kubeconfig)
    assert taken.code == 0, taken.err
    manifest = command.write(tmp_path / "pods.yaml", pod_of("training"), pod_of("absent"))

    judged = command.usher("check", manifest, "--facts", file, "--format", "json")

    assert codes(judged) == {"training": False, "absent": True}
    assert "       1  priorityclasses.scheduling.k8s.io\n" in taken.out
    assert "    none  localqueues.kueue.x-k8s.io: not in this cluster\n" in taken.out
    assert f"{file}: {file.stat().st_size:,} bytes, from cluster of context test" in taken.out


def test_what_may_not_be_read_makes_no_snapshot_unless_that_is_asked_for(
    api: ApiServer, kubeconfig: Path, tmp_path: Path
) -> None:
    """A reader of the snapshot would not know the missing kinds either."""
    api.troubles.append(lambda path, _: status(403, "classes are forbidden") if path == "/".join(CLASSES) else None)
    file = tmp_path / "cluster.json.gz"
    file.write_bytes(b"the old one")

    refused = command.usher("snapshot", "-o", file, "--kubeconfig", kubeconfig)
    assert refused.code == 2
    assert "priorityclasses.scheduling.k8s.io: not read: classes are forbidden" in refused.err
    assert file.read_bytes() == b"the old one"

    partial = command.usher("snapshot", "-o", file, "--kubeconfig", kubeconfig, "--partial")
    manifest = command.write(tmp_path / "pods.yaml", pod_of("absent"))
    judged = command.usher("check", manifest, "--facts", file, "--format", "json")

    assert partial.code == 2
    assert codes(judged) == {"absent": False}


def test_without_an_api_server_the_file_of_before_stays(kubeconfig: Path, tmp_path: Path, api: ApiServer) -> None:
    file = tmp_path / "cluster.json.gz"
    file.write_bytes(b"the old one")
    api.troubles.append(lambda _path, _query: status(401, "who are you"))

    run = command.usher("snapshot", "-o", file, "--kubeconfig", kubeconfig)

    assert run.code == 2
    assert "does not accept the credentials" in run.err
    assert file.read_bytes() == b"the old one"


def test_an_audit_judges_by_the_facts_of_the_same_cluster(api: ApiServer, kubeconfig: Path) -> None:
    api.add(pod_of("training"), pod_of("absent"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

    assert codes(run) == {"training": False, "absent": True}


def test_an_audit_names_what_it_could_not_take_into_account(api: ApiServer, kubeconfig: Path) -> None:
    api.add(pod_of("absent"))
    api.trouble("/".join(CLASSES), status(403, "classes are forbidden"), status(403, "classes are forbidden"))

    run = command.usher("audit", "--kubeconfig", kubeconfig, "--format", "findings")

    reasons = [note["reason"] for note in run.json["notes"] if note["source"] == "priorityclasses.scheduling.k8s.io"]
    assert reasons[0] == "not read: classes are forbidden; bind the ClusterRole of `usher manifests audit-role`"
    assert codes(run) == {"absent": False}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--facts", "live", "--facts", "cluster.json.gz"], "choose one"),
        (["--kubeconfig", "kubeconfig"], "need --facts live"),
        (["--live", "--kubeconfig", "missing/kubeconfig"], "no such file"),
    ],
)
def test_serve_accepts_only_one_source_of_facts(arguments: list[str], message: str, tmp_path: Path) -> None:
    run = command.usher("serve", "--certificate", "x", "--key", "x", *arguments, cwd=tmp_path)

    assert run.code == 2
    assert message in run.err
