"""Pods as the scheduler and the kubelet leave them."""

from collections.abc import Mapping

from e2e.cluster import Cluster, Object, wait_until

GPU_NODES = frozenset({"gpu-0", "gpu-1"})


def running_pods(cluster: Cluster, namespace: str, *, count: int = 1) -> dict[str, Object]:
    """All pods of a namespace by name, once there are as many as `count` and all of them run."""

    def all_run() -> list[Object] | None:
        pods = cluster.objects("Pod", namespace=namespace)
        return pods if len(pods) == count and all(pod["status"]["phase"] == "Running" for pod in pods) else None

    try:
        pods = wait_until(all_run, description=f"{count} pods of {namespace} are Running")
    except TimeoutError as error:
        raise TimeoutError(f"{error}; {_why_pods_wait(cluster, namespace)}") from error
    return {pod["metadata"]["name"]: pod for pod in pods}


def _why_pods_wait(cluster: Cluster, namespace: str) -> str:
    """The scheduler's reasons for pods without a node, and whose pods hold GPUs: tests share the nodes."""
    pods = cluster.objects("Pod", namespace=namespace)
    said = {
        condition.get("message", "")
        for pod in pods
        for condition in pod["status"].get("conditions", [])
        if condition["type"] == "PodScheduled" and condition["status"] == "False"
    }
    holders = [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in cluster.objects("Pod")
        if pod["spec"].get("nodeName") in GPU_NODES
    ]
    return f"{len(pods)} pods; the scheduler says {sorted(said)}; on the GPU nodes: {sorted(holders)}"


def nodes_of(pods: Mapping[str, Object]) -> set[str]:
    return {pod["spec"]["nodeName"] for pod in pods.values()}


def show(title: str, pods: Mapping[str, Object]) -> None:
    """Prints where pods run, for those who let pytest print (-s)."""
    lines = [f"  {name:<40} -> {pod['spec']['nodeName']}" for name, pod in sorted(pods.items())]
    print("\n".join([f"\n{title}:", *lines]))  # noqa: T201 - printing is what it is for
