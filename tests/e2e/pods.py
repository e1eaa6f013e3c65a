"""Pods as the scheduler and the kubelet leave them, and pods as an operator would make them."""

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


def start_as_operator(cluster: Cluster, job: Object) -> None:
    """Creates the pods of a stored PyTorchJob as its operator would: from its templates, owned by the job."""
    owner = {key: job[key] for key in ("apiVersion", "kind")} | {
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    for type_, replica in job["spec"]["pytorchReplicaSpecs"].items():
        for index in range(replica["replicas"]):
            name = f"{owner['name']}-{type_.lower()}-{index}"
            metadata = {
                **replica["template"].get("metadata", {}),
                "name": name,
                "namespace": job["metadata"]["namespace"],
                "ownerReferences": [owner],
            }
            spec = replica["template"]["spec"]
            cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
