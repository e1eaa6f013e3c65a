"""Quotas of usher.yaml, as `usher check` and `usher queue` see them."""

from pathlib import Path
from typing import Any

import pytest

import builders
from integration import command
from integration.command import usher, write

QUOTAS: Any = {"quotas": [{"name": "research", "namespaces": ["research"], "limits": [{"hard": {"gpus": 16}}]}]}

CLUSTER: list[Any] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "research"}},
    builders.gpu_quota("other", 8, namespaces=["serving"]),
]


def job(gpus: int, *, pods: int) -> Any:
    return builders.gpu_job(gpus, pods=pods, name="train", namespace="research")


def overlapping() -> Any:
    return builders.gpu_quota("other", 8, namespaces=["research"])


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return command.config(tmp_path / "usher.yaml", **QUOTAS)


def test_check_tells_what_a_quota_can_never_give_without_a_cluster(tmp_path: Path, config: Path) -> None:
    done = usher("check", write(tmp_path / "object.yaml", job(8, pods=3)), "--config", config)

    assert done.code == 1
    assert "asks for 24 GPUs; quota research of usher.yaml can never give more than 16" in done.out


def test_check_reports_no_quota_that_has_enough(tmp_path: Path, config: Path) -> None:
    done = usher("check", write(tmp_path / "object.yaml", job(8, pods=2)), "--config", config)

    assert "USH1230" not in done.out
    assert "quota research" not in done.out


def test_check_counts_a_quota_of_usher_yaml_as_a_bound_of_the_namespace(tmp_path: Path, config: Path) -> None:
    counting = builders.resource_quota({"pods": "10"}, namespace="research")
    file, facts = write(tmp_path / "object.yaml", job(8, pods=1)), write(tmp_path / "cluster.yaml", *CLUSTER, counting)

    assert "USH1225" in usher("check", file, "--facts", facts).out
    assert "USH1225" not in usher("check", file, "--facts", facts, "--config", config).out


def test_check_denies_a_gpu_quota_that_overlaps_and_names_both(tmp_path: Path, config: Path) -> None:
    facts = write(tmp_path / "cluster.yaml", *CLUSTER)
    done = usher("check", write(tmp_path / "object.yaml", overlapping()), "--config", config, "--facts", facts)

    assert done.code == 1
    assert "GPUQuota other" in done.out
    assert "quota research of usher.yaml also holds for namespace research" in done.out


def test_queue_says_who_charges_the_quota_and_that_its_account_is_not_known(tmp_path: Path, config: Path) -> None:
    facts = write(tmp_path / "cluster.yaml", *CLUSTER)
    done = usher(
        *("queue", write(tmp_path / "object.yaml", job(8, pods=2)), "--config", config, "--facts", facts),
        *("--allow-unknown", "--format", "json"),
    )

    (workload,) = done.json["workloads"]
    section = next(each for each in workload["authorities"] if each["authority"] == "GPUQuota")
    assert section["answer"] == "could"
    assert section["reasons"] == ["the webhooks charge it in the cluster; the current charges are not known here"]


def test_queue_names_both_quotas_that_hold_for_a_namespace(tmp_path: Path, config: Path) -> None:
    facts = write(tmp_path / "cluster.yaml", CLUSTER[0], overlapping())
    done = usher("queue", write(tmp_path / "object.yaml", job(8, pods=2)), "--config", config, "--facts", facts)

    assert "GPUQuota other and quota research of usher.yaml hold for namespace research" in done.out


def test_check_warns_of_a_quota_that_falls_below_what_the_cluster_uses(tmp_path: Path) -> None:
    stored = builders.gpu_quota("research", 16, status={"version": 1, "used": [{"gpus": 12}], "charges": []})
    facts = write(tmp_path / "facts.yaml", stored)

    lowered = usher("check", write(tmp_path / "lowered.yaml", builders.gpu_quota("research", 8)), "--facts", facts)
    enough = usher("check", write(tmp_path / "enough.yaml", builders.gpu_quota("research", 12)), "--facts", facts)

    assert "the limit of gpus falls from 16 to 8, but 12 are in use" in lowered.out
    assert "USH455" not in enough.out
