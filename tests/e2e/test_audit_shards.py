"""The shards of the shipped Job on a real API server: one is killed and runs again, and the merge is the whole."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from e2e import crds
from e2e.cluster import Cluster, Object
from integration import command
from usher.audit.reports import json_document
from usher.audit.store.shards import home_shard

SHARDS = 3
TEAM = "in-parts"
SPACES = [f"e2e-part-{letter}" for letter in "abfg"]
DEFAULT_CLASS: Object = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "e2e-in-parts"},
    "value": 1,
    "globalDefault": True,
}
"""A finding about what has no namespace."""

FAMILY = json_document.FAMILIES["openreports"]
API_VERSION = f"{FAMILY.group}/{FAMILY.version}"


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Cluster]:
    """Namespaces of one team in every shard, with pods that no node takes; and a class that no namespace has."""
    assert {home_shard(name, SHARDS) for name in SPACES} == set(range(SHARDS))
    crds.install(cluster, [f"{FAMILY.group}/{FAMILY.plural}", f"{FAMILY.group}/{FAMILY.cluster_plural}"])
    cluster.create(DEFAULT_CLASS)
    for number, name in enumerate(SPACES):
        cluster.ensure_namespace(name)
        cluster.kubectl("label", "namespace", name, f"team={TEAM}", "--overwrite")
        for each in range(number + 1):
            container = builders.container(gpus=2, env={"NVIDIA_VISIBLE_DEVICES": "all"})
            cluster.create(builders.pod(container, name=f"pod-{each}", namespace=name))
    yield cluster
    cluster.delete("PriorityClass", "e2e-in-parts", api_version="scheduling.k8s.io/v1")
    for name in SPACES:
        cluster.delete_namespace(name, wait=False)


def arguments(site: Cluster, folder: Path, *options: str) -> list[str]:
    """The command line of the pods of the Job, with a folder in the place of the claim."""
    printed = command.usher(
        *("manifests", "audit", "--once", "--claim=audits", f"--shards={SHARDS}", "--configuration="),
        *options,
    ).out
    (job,) = [each for each in yaml.safe_load_all(printed) if each["kind"] == "Job"]
    given: list[str] = job["spec"]["template"]["spec"]["containers"][0]["args"]
    changed = [each.replace("/audits/", f"{folder}/").replace("$(JOB_NAME)", "run") for each in given]
    return [*changed, f"--kubeconfig={site.kubeconfig}", "--cluster-name=prod"]


def index(number: int) -> dict[str, str]:
    return {"JOB_COMPLETION_INDEX": str(number)}


def kill_while_it_writes(given: list[str], number: int, folder: Path) -> None:
    """Kills a shard that has written a table and not yet its record, which comes last."""
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-m", "usher", *given],
            env=command.environment(**index(number)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not [*folder.rglob(f"{number}-of-*/*.parquet")]:
            time.sleep(0.001)
        process.kill()
        process.wait()
        records = [*folder.rglob(f"{number}-of-*/record.json")]
        if not records:
            return
        # It was too fast for this machine.
        records[0].unlink()
        for each in folder.rglob(f"{number}-of-*/*.parquet"):
            each.unlink()
    raise AssertionError("the shard could not be killed before its end")


def test_an_index_that_was_killed_runs_again_and_the_merge_is_the_whole_audit(site: Cluster, tmp_path: Path) -> None:
    given = arguments(site, tmp_path / "audits")
    merge = ("report", "merge", tmp_path / "audits", "--format=json", "--require-complete")
    for number in (0, 2):
        assert command.usher(*given, env=index(number)).code == 0
    kill_while_it_writes(given, 1, tmp_path / "audits")

    missing = command.usher(*merge)
    assert missing.code == 2
    assert "shard 1 of 3" in missing.json["problems"][0]["reason"]

    # The Job runs every index again that it does not know to be done.
    again = [command.usher(*given, env=index(number)) for number in range(SHARDS)]
    assert [each.code for each in again] == [0, 0, 0]
    assert ["is complete in" in each.err for each in again] == [True, False, True]

    merged = command.usher(*merge)
    assert merged.code == 0, merged.err
    assert_equal(merged.json, command.usher("audit", "--kubeconfig", site.kubeconfig, "--format=json").json)


def assert_equal(merged: Any, whole: Any) -> None:
    """Compares this team alone: other namespaces are ending meanwhile."""
    (table,) = [each for each in merged["tables"] if each["by"] == "team"]
    (row,) = [each for each in table["rows"] if each["name"] == TEAM]
    workloads = [each for each in whole["workloads"] if each["team"] == TEAM]
    assert row["workloads"] == len(workloads) == sum(range(1, len(SPACES) + 1))
    assert row["findings"] == sum(each["team"] == TEAM for each in whole["findings"])
    assert merged["summary"]["gpus"] == whole["summary"]["gpus"]
    nodes = Counter(each["code"] for each in whole["findings"] if each["subject"]["kind"] == "Node")
    found = {each["code"]: each["findings"] for each in merged["findings"]}
    assert nodes.items() <= found.items()


def test_each_index_writes_the_reports_of_its_namespaces_and_the_first_that_of_the_cluster(
    site: Cluster, tmp_path: Path
) -> None:
    given = arguments(site, tmp_path / "audits", "--report-objects")
    if site.exists(FAMILY.cluster_kind, json_document.NAME, api_version=API_VERSION):
        site.delete(FAMILY.cluster_kind, json_document.NAME, api_version=API_VERSION)

    for number in (1, 2, 0):
        assert command.usher(*given, env=index(number)).code == 0
        there = [name for name in SPACES if site.objects(FAMILY.kind, namespace=name, api_version=API_VERSION)]
        assert there == [name for name in SPACES if number == 0 or home_shard(name, SHARDS) in {1, number}]
        of_cluster = site.exists(FAMILY.cluster_kind, json_document.NAME, api_version=API_VERSION)
        assert of_cluster == (number == 0)
    site.delete(FAMILY.cluster_kind, json_document.NAME, api_version=API_VERSION)
    for name in SPACES:
        site.delete(FAMILY.kind, json_document.NAME, namespace=name, api_version=API_VERSION)
