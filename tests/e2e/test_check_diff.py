"""`usher check --diff` shows the job that the cluster stores later, and schedules."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

import acceptance
import builders
from e2e import crds, operators, pools
from e2e.cluster import Cluster, Object
from e2e.gpu_nodes import gpu_node
from e2e.pods import nodes_of, running_pods, show
from e2e.pools import H100
from integration import command
from server_process import ServerProcess

pytestmark = pytest.mark.usefixtures("mutating_webhooks")

ADDED_NODES = [f"gpu-{number}" for number in range(2, 8)]

TWO_REPLICA_TYPES = builders.pytorch_job(
    builders.template(builders.container("pytorch", gpus=8)),
    workers=1,
    master=builders.template(builders.container("pytorch", gpus=8)),
    name="bert",
)
BRIEF = acceptance.manifest("brief_pytorchjob")
"""Eight pods of eight GPUs each, with variables of its own and a queue where Kueue does not look for it."""


@pytest.fixture(scope="module", autouse=True)
def nodes(cluster: Cluster, mutating_webhooks: ServerProcess) -> Iterator[None]:
    assert mutating_webhooks.url
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    with pools.added(cluster), pools.nodes(cluster, *map(gpu_node, ADDED_NODES)):
        yield


@pytest.mark.parametrize(
    ("manifest", "count"), [(TWO_REPLICA_TYPES, 2), (BRIEF, 8)], ids=["two replica types", "the brief's"]
)
def test_check_shows_the_object_that_the_api_server_stores_and_its_pods_run_on_the_pool(
    cluster: Cluster, namespace: str, tmp_path: Path, manifest: Object, count: int
) -> None:
    name = manifest["metadata"]["name"]
    placed = builders.replaced(manifest, "/metadata/namespace", namespace)
    file = command.write(tmp_path / "job.yaml", placed)

    told = check(file, "--format", "json")
    (workload,) = told.json["workloads"]
    shown = jsonpatch.apply_patch(placed, workload["mutation"]["operations"])
    printed = cluster.kubectl("create", f"--filename={file}", with_warnings=True)
    job = cluster.get("PyTorchJob", name, namespace=namespace, api_version="kubeflow.org/v1")
    operators.start_as_operator(cluster, job)
    pods = running_pods(cluster, namespace, count=count)
    show(f"PyTorchJob {namespace}/{name}", pods)

    assert told.code == 0
    assert job["spec"] == shown["spec"]
    assert job["metadata"]["annotations"] == shown["metadata"]["annotations"]
    for mutation in {intent["mutation"] for intent in workload["mutation"]["applied"]}:
        assert mutation in printed
    assert nodes_of(pods) <= H100.nodes | set(ADDED_NODES)
    assert len(nodes_of(pods)) == count


def test_the_text_output_names_every_value_that_the_api_server_stores(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    manifest = builders.replaced(TWO_REPLICA_TYPES, "/metadata/namespace", namespace)
    file = command.write(tmp_path / "job.yaml", manifest)

    printed = check(file).out
    stored = cluster.create(manifest)

    added = [line[1:].strip() for line in printed.splitlines() if line.strip().startswith("+")]
    for replica in stored["spec"]["pytorchReplicaSpecs"].values():
        for value in leaves(replica["template"]["spec"]["tolerations"]):
            assert any(value in line for line in added)
        for value in leaves(replica["template"]["spec"]["affinity"]):
            assert any(value in line for line in added)
        for value in leaves(replica["template"]["spec"]["containers"][0]["env"]):
            assert any(value in line for line in added)


def test_a_manifest_changed_as_shown_is_changed_no_more(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """As GitOps would have it: what is shown is written into the manifest, and the webhooks agree."""
    manifest = builders.replaced(TWO_REPLICA_TYPES, "/metadata/namespace", namespace)
    operations = check(command.write(tmp_path / "job.yaml", manifest), "--format", "json").json["workloads"][0]
    file = command.write(tmp_path / "shown.yaml", jsonpatch.apply_patch(manifest, operations["mutation"]["operations"]))

    again = check(file, "--format", "json").json["workloads"][0]
    printed = cluster.kubectl("create", f"--filename={file}", with_warnings=True)

    assert again["mutation"]["operations"] == []
    assert printed == "pytorchjob.kubeflow.org/bert created\n"


def check(file: Path, *arguments: str) -> command.Run:
    return command.usher("check", "--diff", "--config", pools.CONFIG, *arguments, file)


def leaves(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield str(value)
