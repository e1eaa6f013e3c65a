"""`usher manifests fabric-files`: the ConfigMaps that the webhook mounts and does not make."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.command import Run, config, usher
from usher.config.load import load
from usher.policy import assembly
from usher.policy.decision import Request

SITE: dict[str, Any] = {
    "pools": [{"name": "nd", "nodeSelector": {"gpu": "h100"}, "fabric": "rails"}],
    "fabrics": {
        "rails": {
            "base": "infiniband",
            "topology": {"configMap": "nccl-topology", "key": "ndv5.xml"},
            "ncclConf": {"configMap": "nccl-conf"},
        }
    },
}


def printed(tmp_path: Path, *arguments: str, site: dict[str, Any] | None = None) -> Run:
    file = config(tmp_path / "usher.yaml", **(SITE if site is None else site))
    (tmp_path / "ndv5.xml").write_text("<system version='1'/>\n")
    (tmp_path / "nccl.conf").write_text("NCCL_DEBUG=WARN\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    return usher("manifests", "fabric-files", "--config", file, *arguments, cwd=tmp_path)


BOTH = ("--fabric-file", "ndv5.xml=ndv5.xml", "--fabric-file", "nccl.conf=nccl.conf")


def test_each_namespace_gets_each_config_map_with_its_files(tmp_path: Path) -> None:
    run = printed(tmp_path, "--pod-namespace", "research", "--pod-namespace", "nlp", *BOTH)

    found = list(yaml.safe_load_all(run.out))
    places = [(each["metadata"]["namespace"], each["metadata"]["name"], each["data"]) for each in found]
    files = [
        ("nccl-conf", {"nccl.conf": "NCCL_DEBUG=WARN\n"}),
        ("nccl-topology", {"ndv5.xml": "<system version='1'/>\n"}),
    ]
    assert places == [(namespace, name, data) for namespace in ("research", "nlp") for name, data in files]


def test_they_are_those_that_the_webhook_mounts(tmp_path: Path) -> None:
    run = printed(tmp_path, "--pod-namespace", "research", *BOTH)
    evaluator = assembly.embedded(load(tmp_path / "usher.yaml"))
    container = {"name": "train", "image": "a", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    replica = {"replicas": 2, "template": {"spec": {"containers": [container]}}}
    job: Any = {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "a", "namespace": "research"},
        "spec": {"mpiReplicaSpecs": {"Worker": replica, "Launcher": {**replica, "replicas": 1}}},
    }

    merged = evaluator.mutate(Request(value=job, namespace="research"))

    needed = {(need.name, need.namespace) for intent in merged.applied for need in intent.needs}
    there = {(each["metadata"]["name"], each["metadata"]["namespace"]) for each in yaml.safe_load_all(run.out)}
    assert needed
    assert needed <= there
    evaluator.engine.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (BOTH[:2], "nccl.conf has no file; add --fabric-file nccl.conf=PATH"),
        ((*BOTH, "--fabric-file", "a=b"), "no fabric of a pool mounts a; these are mounted: nccl.conf, ndv5.xml"),
        ((*BOTH[:2], "--fabric-file", "nccl.conf=absent"), "absent: cannot be read: No such file or directory"),
        (
            (*BOTH[:2], "--fabric-file", "nccl.conf=binary"),
            "binary: is not UTF-8 text, which a topology and nccl.conf are",
        ),
        ((*BOTH, "--fabric-file", "x"), "--fabric-file x is not KEY=PATH"),
    ],
    ids=str,
)
def test_a_file_that_does_not_fit_is_named(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    run = printed(tmp_path, "--pod-namespace", "research", *arguments)

    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_without_a_fabric_that_mounts_files_there_is_nothing_to_print(tmp_path: Path) -> None:
    run = printed(tmp_path, "--pod-namespace", "research", site={})

    assert run.code == 2
    assert "no fabric of a pool in usher.yaml mounts a file" in run.err
