"""Pods as the scheduler and the kubelet leave them."""

from collections.abc import Mapping

from e2e.cluster import Cluster, Object, wait_until

GPU_NODES = frozenset({"gpu-0", "gpu-1"})


def running_pods(cluster: Cluster, namespace: str, *, count: int = 1) -> dict[str, Object]:
    """All pods of a namespace by name, once there are as many as `count` and all of them run."""

    def all_run() -> list[Object] | None:
        pods = cluster.objects("Pod", namespace=namespace)
        return pods if len(pods) == count and all(pod["status"]["phase"] == "Running" for pod in pods) else None

    pods = wait_until(all_run, description=f"{count} pods of {namespace} are Running")
    return {pod["metadata"]["name"]: pod for pod in pods}


def nodes_of(pods: Mapping[str, Object]) -> set[str]:
    return {pod["spec"]["nodeName"] for pod in pods.values()}


def show(title: str, pods: Mapping[str, Object]) -> None:
    """Prints where pods run, for those who let pytest print (-s)."""
    lines = [f"  {name:<40} -> {pod['spec']['nodeName']}" for name, pod in sorted(pods.items())]
    print("\n".join([f"\n{title}:", *lines]))  # noqa: T201 - printing is what it is for
