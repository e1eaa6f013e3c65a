"""`usher init --facts live` on a real cluster: under its file, all good workloads of the cluster are clean.

The webhook server runs with the file, watches the cluster, and the API server asks it about every workload.
"""

import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

import builders
import server_process
from builders import queues
from e2e import crds, pools
from e2e.cluster import ApiError, Cluster, Object
from e2e.gpu_nodes import GPU_TAINT, accelerator_node, gpu_node
from e2e.registration import registered
from integration import command
from server_process import ServerProcess
from usher import paths

GKE = {
    "cloud.google.com/gke-nodepool": "inference",
    "cloud.google.com/gke-accelerator": "nvidia-l4",
}
APPLIED = "gpu-usher: applied "
"""How the webhook names the mutations that it made."""

QUEUE, QUEUE_LABEL = "usher-init", "kueue.x-k8s.io/queue-name"
LIMITS: paths.Object = {"cpu": "8", "memory": "64Gi"}
SHARED_MEMORY: paths.Object = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
PROBE: paths.Object = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 10}
SELECTED: paths.Object = {"matchLabels": {"app": "llm"}}


def container(name: str, resources: Mapping[str, int], **more: object) -> Object:
    return builders.container(name, limits={**LIMITS, **resources}, requests=LIMITS, **more)  # type: ignore[arg-type]  # fields of a container


def trainer(gpus: int, **spec: object) -> Object:
    mount = [{"name": "shm", "mountPath": "/dev/shm"}]
    ranks = container("pytorch", {"nvidia.com/gpu": gpus}, command=["torchrun", "train.py"], volumeMounts=mount)
    return builders.template(ranks, volumes=[SHARED_MEMORY], **spec)  # type: ignore[arg-type]  # fields of a pod spec


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    """A namespace with a queue of Kueue, which may give all GPUs."""
    crds.install(
        cluster, [f"kueue.x-k8s.io/{plural}" for plural in ("clusterqueues", "localqueues", "resourceflavors")]
    )
    name = cluster.create_namespace(prefix="init-")
    amounts = [queues.quota(1000, resource="cpu"), queues.quota("100Ti", resource="memory"), queues.quota(64)]
    shared: list[Object] = [queues.flavor(QUEUE), queues.cluster_queue(QUEUE, queues.group((QUEUE, amounts)))]
    for each in (*shared, queues.local_queue(QUEUE, namespace=name)):
        cluster.create(each)
    yield name
    for each in shared:
        cluster.delete(each["kind"], QUEUE, api_version=each["apiVersion"])
    cluster.delete_namespace(name, wait=False)


def good_workloads(namespace: str) -> dict[str, Object]:
    """Workloads as their authors would write them for this cluster, some with taints and selectors, some without."""
    once = builders.replaced(trainer(8), "/spec/restartPolicy", "Never")
    server = container(
        "vllm", {"nvidia.com/gpu": 1}, readinessProbe=PROBE, startupProbe={**PROBE, "failureThreshold": 90}
    )
    labelled = builders.template(server, labels={"app": "llm"}, nodeSelector={**GKE})
    return {
        "training": builders.pytorch_job(
            trainer(8), workers=1, master=trainer(8), name="bert", namespace=namespace, labels={QUEUE_LABEL: QUEUE}
        ),
        "batch": builders.replaced(
            builders.job(once, name="embed", namespace=namespace), "/spec/activeDeadlineSeconds", 3600
        ),
        # The pool has one node with one GPU, so a rollout has no room for another pod.
        "inference": builders.replaced(
            builders.replaced(
                builders.deployment(labelled, replicas=1, name="llm", namespace=namespace), "/spec/selector", SELECTED
            ),
            "/spec/strategy",
            {"type": "Recreate"},
        ),
        "other accelerators": builders.pod(
            container("main", {"amd.com/gpu": 2}), name="rocm", namespace=namespace, restartPolicy="Never"
        ),
        "no accelerator": builders.pod(container("web", {}), name="web", namespace=namespace),
    }


@pytest.fixture(scope="module")
def nodes(cluster: Cluster) -> Iterator[None]:
    """Beside the H100 servers of conftest.py: a managed pool, another make, and a node that a team reserves."""
    new = [
        gpu_node("l4-0", gpus=1, product="NVIDIA-L4", labels=GKE),
        accelerator_node(
            "mi300x-0",
            resources={"amd.com/gpu": "8"},
            labels={"amd.com/gpu.product-name": "MI300X"},
            taints=[{"key": "amd.com/gpu", "effect": "NoSchedule"}],
        ),
        accelerator_node(
            "team-0",
            resources={"nvidia.com/gpu": "8"},
            labels={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
            taints=[GPU_TAINT, {"key": "dedicated", "value": "vision", "effect": "NoSchedule"}],
        ),
    ]
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    with pools.nodes(cluster, *new):
        yield


@pytest.fixture(scope="module")
def file(cluster: Cluster, nodes: None, home: str, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001 - they are there
    written = tmp_path_factory.mktemp("init") / "usher.yaml"
    done = command.usher("init", "--facts", "live", "--kubeconfig", cluster.kubeconfig, "-o", written)
    assert done.code == 0, done.err
    return written


@pytest.fixture(scope="module")
def asked(cluster: Cluster, file: Path) -> Iterator[ServerProcess]:
    """A server with the file that watches the cluster, and that the API server asks."""
    arguments = (f"--config={file}", "--live", f"--kubeconfig={cluster.kubeconfig}")
    with server_process.running(file.parent / "server", arguments=arguments) as server:
        try:
            with registered(cluster, server):
                yield server
        finally:
            server.running.process.send_signal(signal.SIGINT)


def test_the_file_declares_the_pools_of_the_cluster_and_suggests_its_queue(file: Path, home: str) -> None:
    written = yaml.safe_load(file.read_text())

    assert {pool["name"]: pool["nodeSelector"] for pool in written["pools"]} == {
        "h100-80gb-hbm3": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        "inference": GKE,
        "mi300x": {"amd.com/gpu.product-name": "MI300X"},
    }
    assert "Not declared: the taint dedicated reserves its nodes" in file.read_text()
    assert f"# - {{namespaces: [{home}], localQueue: {QUEUE}}}" in file.read_text()


def test_the_file_is_the_same_as_the_cluster_until_the_cluster_changes(cluster: Cluster, file: Path) -> None:
    arguments = ("config", "check", file, "--facts", "live", "--kubeconfig", cluster.kubeconfig)

    same = command.usher(*arguments)
    assert (same.code, same.err) == (0, ""), same.out
    with pools.nodes(cluster, gpu_node("a100-0", product="NVIDIA-A100-SXM4-80GB")):
        changed = command.usher(*arguments)

    assert changed.code == 1
    assert "pools: no pool declares the nodes like a100-0 (1), with nvidia.com/gpu" in changed.out


@pytest.mark.parametrize("name", list(good_workloads("")))
def test_a_good_workload_is_clean(cluster: Cluster, asked: ServerProcess, home: str, name: str) -> None:
    """The API server takes it as the webhook changes it, and usher warns of nothing."""
    assert asked.url
    answer = cluster.answer_to_creation(good_workloads(home)[name], dry_run=True)

    assert [warning for warning in answer.warnings if not warning.startswith(APPLIED)] == []


def test_a_workload_that_no_node_can_hold_is_still_found(cluster: Cluster, asked: ServerProcess, home: str) -> None:
    assert asked.url
    too_large = builders.pod(container("main", {"nvidia.com/gpu": 16}), name="large", namespace=home)

    try:
        said = " ".join(cluster.answer_to_creation(too_large, dry_run=True).warnings)
    except ApiError as error:
        said = error.message

    assert "USH330" in said
