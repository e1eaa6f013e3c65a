"""Kubernetes' own controllers run workloads with GPUs while the webhooks review their objects."""

import pytest

import builders
from e2e.cluster import ApiError, Cluster, Object
from e2e.pods import GPU_NODES, nodes_of, running_pods, show

pytestmark = pytest.mark.usefixtures("webhooks")

TEMPLATE = builders.template(builders.container(gpus=1), labels={"app": "example"})
# A DaemonSet is part of the system, which gets no node affinity: it selects its nodes itself.
ON_GPU_NODES = builders.replaced(TEMPLATE, "/spec/nodeSelector", {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"})
ONCE = builders.template(builders.container(gpus=1), restartPolicy="Never")


def selecting(workload: Object) -> Object:
    """With the selector that the API server wants to see."""
    return builders.replaced(workload, "/spec/selector", {"matchLabels": {"app": "example"}})


def deployment(namespace: str) -> Object:
    return selecting(builders.deployment(TEMPLATE, replicas=2, namespace=namespace))


@pytest.mark.parametrize(
    ("workload", "count"),
    [
        (selecting(builders.deployment(TEMPLATE, replicas=2)), 2),
        (selecting(builders.replica_set(TEMPLATE, replicas=2)), 2),
        (selecting(builders.stateful_set(TEMPLATE, replicas=2)), 2),
        (selecting(builders.daemon_set(ON_GPU_NODES)), len(GPU_NODES)),
        (builders.job(ONCE, parallelism=2), 2),
    ],
    ids=["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"],
)
def test_its_pods_run_on_gpu_nodes(cluster: Cluster, namespace: str, workload: Object, count: int) -> None:
    cluster.create(builders.replaced(workload, "/metadata/namespace", namespace))

    pods = running_pods(cluster, namespace, count=count)
    show(f"{workload['kind']} {namespace}/example", pods)
    assert nodes_of(pods) <= GPU_NODES


def test_the_jobs_of_a_cron_job_run_on_gpu_nodes(cluster: Cluster, namespace: str) -> None:
    cluster.create(builders.cron_job(ONCE, namespace=namespace))

    cluster.kubectl("create", "job", "tonight", "--from=cronjob/example", f"--namespace={namespace}")

    pods = running_pods(cluster, namespace)
    show(f"CronJob {namespace}/example", pods)
    assert nodes_of(pods) <= GPU_NODES


def test_a_deployment_is_changed_itself_and_so_has_one_replica_set(cluster: Cluster, namespace: str) -> None:
    """A ReplicaSet that differed from its Deployment would be made again, without end."""
    stored = cluster.create(deployment(namespace))
    cluster.kubectl("rollout", "status", "--timeout=30s", "deployment/example", f"--namespace={namespace}")
    replica_sets = cluster.objects("ReplicaSet", namespace=namespace, api_version="apps/v1")

    assert [each["spec"]["template"]["spec"] for each in replica_sets] == [stored["spec"]["template"]["spec"]]
    assert stored["metadata"]["annotations"]["gpu-usher.io/mutations"] == "gpu-node-affinity,gpu-toleration"


def test_a_deployment_can_be_scaled_and_rolled_out(cluster: Cluster, namespace: str) -> None:
    cluster.create(deployment(namespace))
    running_pods(cluster, namespace, count=2)
    of_it = ("deployment/example", f"--namespace={namespace}")

    cluster.kubectl("scale", "--replicas=3", *of_it)
    running_pods(cluster, namespace, count=3)
    cluster.kubectl("rollout", "restart", *of_it)
    cluster.kubectl("rollout", "status", "--timeout=30s", *of_it)

    assert nodes_of(running_pods(cluster, namespace, count=3)) <= GPU_NODES


def test_a_broken_template_is_denied_to_its_author_and_not_only_to_its_controller(
    cluster: Cluster, namespace: str
) -> None:
    greedy = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    broken = selecting(builders.deployment(builders.template(greedy, labels={"app": "example"}), namespace=namespace))

    with pytest.raises(ApiError, match=f"Deployment {namespace}/example breaks 1 rule"):
        cluster.create(broken)
