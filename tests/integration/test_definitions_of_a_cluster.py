"""The keys of files, compared with the definitions of a live cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from integration import api_server, editor
from integration.api_server import ApiServer, status
from integration.command import Run, usher, write
from usher.cli import inputs

ROOT = "/apis/apiextensions.k8s.io/v1"
PATH = f"{ROOT}/customresourcedefinitions"

TRAINING: Final[dict[str, Any]] = {
    "apiVersion": "example.com/v1",
    "kind": "Training",
    "metadata": {"name": "bert"},
    "spec": {"wokers": 4},
}
JOB_SET: Final[dict[str, Any]] = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "bert"},
    "spec": {"newField": 1, "replicatedJobs": []},
}


def definition(plural: str, kind: str, group: str, version: str, **fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """A cluster with a kind of its own, and a JobSet of another version than the recorded one."""
    with api_server.running() as server:
        server.objects[ROOT, "customresourcedefinitions"] = [
            definition("trainings", "Training", "example.com", "v1", workers={"type": "integer"}),
            definition("others", "Other", "example.com", "v1", workers={"type": "integer"}),
            definition(
                "jobsets",
                "JobSet",
                "jobset.x-k8s.io",
                "v1alpha2",
                newField={"type": "integer"},
                replicatedJobs={"type": "array", "items": {"type": "object"}},
            ),
        ]
        yield server


def checked(api: ApiServer, folder: Path, *objects: dict[str, Any]) -> Run:
    kubeconfig = api_server.kubeconfig(folder / "kubeconfig", api.url)
    return usher("check", write(folder / "one.yaml", *objects), "--kubeconfig", kubeconfig)


def asked(api: ApiServer) -> list[str]:
    return [query["fieldSelector"] for path, query in api.requests if path == PATH and "fieldSelector" in query]


def test_a_kind_that_only_the_cluster_knows_is_compared(api: ApiServer, tmp_path: Path) -> None:
    done = checked(api, tmp_path, TRAINING)
    assert "USH148" in done.out
    assert "the field wokers" in done.out
    assert "not compared" not in done.out + done.err


def test_only_the_definitions_of_kinds_in_the_files_are_asked_for(api: ApiServer, tmp_path: Path) -> None:
    checked(api, tmp_path, TRAINING)
    assert set(asked(api)) == {"metadata.name=trainings.example.com"}


def test_the_definition_of_the_cluster_wins_over_the_recorded_one(api: ApiServer, tmp_path: Path) -> None:
    assert "newField" in usher("check", write(tmp_path / "one.yaml", JOB_SET)).out
    assert "newField" not in checked(api, tmp_path, JOB_SET).out


def test_a_definition_that_cannot_be_read_is_named_with_the_reason(api: ApiServer, tmp_path: Path) -> None:
    api.troubles.append(
        lambda path, query: status(500, "etcd is down") if path == PATH and "fieldSelector" in query else None
    )
    done = checked(api, tmp_path, TRAINING)
    assert "not compared with the definitions of the cluster: trainings.example.com: etcd is down" in done.err
    assert "not compared" in done.out


def test_the_number_of_definitions_is_bounded(api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_MOST_DEFINITIONS", 1)
    done = checked(api, tmp_path, TRAINING, JOB_SET)
    assert "1 more: usher reads 1 definitions of a cluster" in done.err
    assert set(asked(api)) == {"metadata.name=jobsets.jobset.x-k8s.io"}


@pytest.mark.parametrize("command", ["explain", "replay"])
def test_other_commands_compare_with_the_definitions_of_the_cluster(
    api: ApiServer, tmp_path: Path, command: str
) -> None:
    kubeconfig = api_server.kubeconfig(tmp_path / "kubeconfig", api.url)
    named: list[str | Path] = [write(tmp_path / "one.yaml", TRAINING)]
    if command == "replay":
        named += [
            "--against",
            write(tmp_path / "usher.yaml", {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"}),
        ]
    done = usher(command, *named, "--kubeconfig", kubeconfig)
    assert set(asked(api)) == {"metadata.name=trainings.example.com"}
    assert command == "replay" or "the field wokers" in done.out


async def test_an_editor_compares_with_the_definitions_of_the_cluster(api: ApiServer, tmp_path: Path) -> None:
    kubeconfig = api_server.kubeconfig(tmp_path / "kubeconfig", api.url)
    file = write(tmp_path / "one.yaml", TRAINING)
    async with editor.started("--kubeconfig", kubeconfig, cwd=tmp_path) as ours:
        ours.open(file.as_uri(), file.read_text(encoding="utf-8"))
        found = [each.message for each in (await ours.next(file.as_uri())).diagnostics]
    assert set(asked(api)) == {"metadata.name=trainings.example.com"}
    assert any("the field wokers" in each for each in found)
