"""Workloads that ask for GPUs and say nothing of nodes get to a GPU node, and others stay away from it."""

import json

import pytest

import builders
from e2e import crds
from e2e.cluster import Cluster, Object, condition, wait_until
from e2e.operators import start_as_operator
from e2e.pods import GPU_NODES, nodes_of, running_pods, show
from e2e.registration import decisions
from server_process import ServerProcess

pytestmark = [pytest.mark.uses_definitions, pytest.mark.usefixtures("webhooks")]

TOLERATION = builders.toleration("nvidia.com/gpu", operator="Exists", effect="NoSchedule")
AFFINITY = builders.node_affinity(
    builders.term(builders.expression("nvidia.com/gpu.product", "In", "NVIDIA-H100-80GB-HBM3"))
)
FABRIC = [{"name": "NCCL_IB_HCA", "value": "mlx5"}, {"name": "NCCL_SOCKET_IFNAME", "value": "eth0"}]
WARNING = (
    "Warning: gpu-usher: applied gpu-node-affinity (2 places), gpu-toleration (2 places), nccl-environment (4 places)"
)
ANNOTATION = "gpu-usher.io/mutations"


def bert(namespace: str) -> Object:
    """A PyTorchJob that fills both GPU nodes."""
    template = builders.template(builders.container("pytorch", gpus=8))
    return builders.pytorch_job(template, workers=1, master=template, name="bert", namespace=namespace)


def stored(cluster: Cluster, namespace: str) -> Object:
    return cluster.get("PyTorchJob", "bert", namespace=namespace, api_version="kubeflow.org/v1")


@pytest.fixture(autouse=True)
def pytorch_jobs(cluster: Cluster) -> None:
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])


def test_a_pytorch_job_is_completed_and_its_pods_run_on_gpu_nodes(cluster: Cluster, namespace: str) -> None:
    printed = cluster.kubectl("create", "--filename=-", stdin=json.dumps(bert(namespace)), with_warnings=True)
    job = stored(cluster, namespace)
    start_as_operator(cluster, job)
    pods = running_pods(cluster, namespace, count=2)
    show(f"PyTorchJob {namespace}/bert", pods)

    assert printed == f"{WARNING}\npytorchjob.kubeflow.org/bert created\n"
    assert job["metadata"]["annotations"] == {ANNOTATION: "gpu-node-affinity,gpu-toleration,nccl-environment"}
    for replica in job["spec"]["pytorchReplicaSpecs"].values():
        container = builders.container("pytorch", gpus=8) | {"env": FABRIC}
        assert replica["template"]["spec"] == {
            "containers": [container],
            "tolerations": [TOLERATION],
            "affinity": AFFINITY,
        }
    assert {name: pod["spec"]["containers"][0]["env"] for name, pod in pods.items()} == {
        "bert-master-0": FABRIC,
        "bert-worker-0": FABRIC,
    }
    assert nodes_of(pods) == GPU_NODES


def test_what_was_completed_once_is_complete(cluster: Cluster, namespace: str) -> None:
    """Applied again, replaced by what is stored, or deleted and made anew from it: nothing changes any more."""
    manifest = json.dumps(bert(namespace))
    cluster.kubectl("apply", "--server-side", "--filename=-", stdin=manifest)
    first = stored(cluster, namespace)

    applied = cluster.kubectl("apply", "--server-side", "--filename=-", stdin=manifest, with_warnings=True)
    assert applied == "pytorchjob.kubeflow.org/bert serverside-applied\n"
    assert stored(cluster, namespace) == first

    replaced = cluster.kubectl("replace", "--filename=-", stdin=json.dumps(first), with_warnings=True)
    assert replaced == "pytorchjob.kubeflow.org/bert replaced\n"
    assert stored(cluster, namespace) == first

    anew = cluster.kubectl("replace", "--force", "--filename=-", stdin=json.dumps(first), with_warnings=True)
    second = stored(cluster, namespace)
    assert "Warning" not in anew
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert second["spec"] == first["spec"]
    assert second["metadata"]["annotations"] == first["metadata"]["annotations"]


def test_a_dry_run_gives_the_same_answer_and_keeps_nothing(
    cluster: Cluster, namespace: str, webhooks: ServerProcess
) -> None:
    series = 'usher_reviews_total{endpoint="mutate",result="mutated"}'
    reviews = webhooks.metrics().get(series, 0)
    manifest = json.dumps(bert(namespace))

    printed = cluster.kubectl(
        "create", "--dry-run=server", "--output=json", "--filename=-", stdin=manifest, with_warnings=True
    )
    logged = decisions(webhooks, namespace, count=2)

    warning, _, answer = printed.partition("\n")
    assert not cluster.exists("PyTorchJob", "bert", namespace=namespace, api_version="kubeflow.org/v1")
    assert [(entry["endpoint"], entry["dryRun"]) for entry in logged] == [("mutate", True), ("validate", True)]
    assert webhooks.metrics()[series] > reviews
    assert warning == WARNING
    kept = cluster.create(bert(namespace))
    assert json.loads(answer)["spec"] == kept["spec"]
    assert json.loads(answer)["metadata"]["annotations"] == kept["metadata"]["annotations"]


def test_a_pod_that_only_asks_for_a_gpu_runs_on_a_gpu_node(cluster: Cluster, namespace: str) -> None:
    cluster.create(builders.pod(builders.container(gpus=1), name="notebook", namespace=namespace))

    pods = running_pods(cluster, namespace)
    show(f"Pod {namespace}/notebook", pods)
    notebook = pods["notebook"]
    assert nodes_of(pods) <= GPU_NODES
    assert TOLERATION in notebook["spec"]["tolerations"]
    assert notebook["spec"]["affinity"] == AFFINITY
    assert notebook["metadata"]["annotations"] == {ANNOTATION: "gpu-node-affinity,gpu-toleration"}


def test_a_pod_without_a_gpu_request_sees_no_gpu(cluster: Cluster, namespace: str) -> None:
    """Not in any of its containers, whatever their images say; and it runs where there is none."""
    setup = builders.container("setup")
    cluster.create(builders.pod(builders.container(), name="web", namespace=namespace, initContainers=[setup]))

    pods = running_pods(cluster, namespace)
    web = pods["web"]["spec"]
    assert nodes_of(pods) == {"cpu-0"}
    for container in (*web["initContainers"], *web["containers"]):
        assert container["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]


def test_a_pod_that_asks_for_no_gpu_is_kept_off_gpu_nodes(cluster: Cluster, namespace: str) -> None:
    """Nobody gives it the toleration, not even if it may run nowhere else."""
    cluster.create(builders.pod(name="squatter", namespace=namespace, nodeSelector={"nvidia.com/gpu.present": "true"}))

    waiting = wait_until(
        lambda: condition(cluster.get("Pod", "squatter", namespace=namespace), "PodScheduled"),
        description="the scheduler has tried the pod",
    )
    assert (waiting["status"], waiting["reason"]) == ("False", "Unschedulable")
    assert "2 node(s) had untolerated taint(s)" in waiting["message"]
