"""The harness itself: what other end-to-end tests take for granted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e import crds
from e2e.cluster import ApiError, Cluster, KubectlError, Object, condition, wait_until
from e2e.control_plane import TOOL_NAMES, TOOLS, control_plane
from e2e.gpu_nodes import is_ready
from e2e.processes import ProcessError

GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
COMPONENTS = {"etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok"}


def pod(namespace: str, *, gpus: int = 0, tolerations: list[Object] | None = None) -> Object:
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "trainer", "namespace": namespace},
        "spec": {
            "containers": [{"name": "main", "image": "trainer:1", "resources": resources}],
            "tolerations": tolerations or [],
        },
    }


def pytorch_job(namespace: str, *, workers: int = 2) -> Object:
    container = {"name": "pytorch", "image": "trainer:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    worker = {"replicas": workers, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "bert", "namespace": namespace},
        "spec": {"pytorchReplicaSpecs": {"Worker": worker}},
    }


def running_pod(cluster: Cluster, namespace: str) -> Object:
    """The only pod of the namespace, once it is Running."""

    def running() -> Object | None:
        pods = cluster.objects("Pod", namespace=namespace)
        return pods[0] if pods and pods[0]["status"]["phase"] == "Running" else None

    return wait_until(running, description=f"the pod in {namespace} is Running")


def processes_of(directory: Path) -> set[str]:
    """The names of the programs whose command line mentions `directory`."""
    names = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            program, *arguments = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # It ended since it was listed.
        if any(str(directory) in argument for argument in arguments):
            names.add(Path(program).name)
    return names


def test_all_nodes_are_ready(cluster: Cluster) -> None:
    nodes = {node["metadata"]["name"]: is_ready(node) for node in cluster.objects("Node")}

    assert nodes == {"cpu-0": True, "gpu-0": True, "gpu-1": True}


def test_a_deployment_has_its_pod_running_on_the_cpu_node(cluster: Cluster, namespace: str) -> None:
    labels = {"app": "server"}
    template = {"metadata": {"labels": labels}, "spec": pod(namespace)["spec"]}
    cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "server", "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
    )

    assert running_pod(cluster, namespace)["spec"]["nodeName"] == "cpu-0"


def test_a_gpu_pod_that_tolerates_the_taint_runs_on_a_gpu_node(cluster: Cluster, namespace: str) -> None:
    cluster.create(pod(namespace, gpus=1, tolerations=[GPU_TOLERATION]))

    assert running_pod(cluster, namespace)["spec"]["nodeName"] in {"gpu-0", "gpu-1"}


def test_a_gpu_pod_without_the_toleration_stays_pending_and_says_why(cluster: Cluster, namespace: str) -> None:
    cluster.create(pod(namespace, gpus=1))

    waiting = wait_until(
        lambda: condition(cluster.get("Pod", "trainer", namespace=namespace), "PodScheduled"),
        description="the scheduler has tried the pod",
    )

    assert (waiting["status"], waiting["reason"]) == ("False", "Unschedulable")
    assert "1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s)" in waiting["message"]


def test_a_deleted_pod_goes_away(cluster: Cluster, namespace: str) -> None:
    cluster.create(pod(namespace))
    running_pod(cluster, namespace)

    cluster.delete("Pod", "trainer", namespace=namespace)

    assert wait_until(lambda: not cluster.exists("Pod", "trainer", namespace=namespace), description="the pod is gone")


def test_a_dry_run_keeps_nothing(cluster: Cluster, namespace: str) -> None:
    assert cluster.create(pod(namespace), dry_run=True)["spec"]["serviceAccountName"] == "default"
    assert not cluster.exists("Pod", "trainer", namespace=namespace)


def test_apply_creates_and_then_changes(cluster: Cluster, namespace: str) -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": namespace}}

    for level in ("debug", "info"):
        cluster.apply({**settings, "data": {"level": level}})
        assert cluster.get("ConfigMap", "settings", namespace=namespace)["data"] == {"level": level}


def test_a_refusal_carries_status_reason_and_message(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(ApiError) as refused:
        cluster.create(pod(namespace, gpus=1) | {"spec": {"containers": []}})

    assert (refused.value.status, refused.value.reason) == (422, "Invalid")
    assert refused.value.message == 'Pod "trainer" is invalid: spec.containers: Required value'


def test_a_users_refusal_reads_as_on_their_terminal(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(KubectlError) as refused:
        cluster.kubectl("get", "pod", "nobody", f"--namespace={namespace}")

    assert refused.value.stderr == 'Error from server (NotFound): pods "nobody" not found'


def test_warnings_of_the_api_server_are_seen_by_api_and_kubectl(cluster: Cluster, namespace: str) -> None:
    odd = pod(namespace)
    odd["spec"]["nodeSelector"] = {"beta.kubernetes.io/os": "linux"}
    expected = 'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'

    answer = cluster.request("POST", f"/api/v1/namespaces/{namespace}/pods", body=odd, query={"dryRun": "All"})
    printed = cluster.kubectl("create", "--dry-run=server", "--filename=-", stdin=json.dumps(odd), with_warnings=True)

    assert answer.warnings == (expected,)
    assert printed == f"Warning: {expected}\npod/trainer created (server dry run)\n"


@pytest.mark.uses_definitions
def test_a_pytorch_job_is_taken_by_its_schema(cluster: Cluster, namespace: str) -> None:
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])

    job = cluster.create(pytorch_job(namespace, workers=4))

    assert job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 4


@pytest.mark.uses_definitions
def test_a_malformed_pytorch_job_is_refused_by_its_schema(cluster: Cluster, namespace: str) -> None:
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])

    with pytest.raises(ApiError, match=r"spec\.pytorchReplicaSpecs: Required value"):
        cluster.create(pytorch_job(namespace) | {"spec": {}})


def test_a_kind_without_a_definition_is_named(cluster: Cluster) -> None:
    with pytest.raises(KeyError, match=r"no definition of e2e\.gpu-usher\.io/seats"):
        crds.install(cluster, ["e2e.gpu-usher.io/seats"])


def test_stopping_leaves_no_process_behind(tmp_path: Path) -> None:
    with control_plane(tmp_path):
        assert processes_of(tmp_path) == COMPONENTS

    assert processes_of(tmp_path) == set()


def test_a_failed_start_shows_the_log_and_leaves_no_process_behind(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOL_NAMES:
        (tools / name).symlink_to(TOOLS / name)
    broken = tools / "kube-apiserver"
    broken.unlink()
    broken.write_text("#!/bin/sh\necho 'no seat left'\nexit 3\n")
    broken.chmod(0o755)

    with (
        pytest.raises(ProcessError, match=r"(?s)kube-apiserver ended with 3\n.*no seat left"),
        control_plane(tmp_path, tools=tools),
    ):
        pass

    assert processes_of(tmp_path) == set()


@pytest.mark.skipif(
    shutil.which("setpriv") is None, reason="without setpriv nothing ends the components of a killed run"
)
def test_a_killed_test_run_leaves_no_process_behind(tmp_path: Path) -> None:
    script = "import sys, pathlib, e2e.control_plane as c\nwith c.control_plane(pathlib.Path(sys.argv[1])): pass"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", script, tmp_path], env=environment) as run:
        wait_until(lambda: "kube-apiserver" in processes_of(tmp_path), description="the run has started components")
        run.kill()

    assert wait_until(lambda: not processes_of(tmp_path), description="every process has ended")
