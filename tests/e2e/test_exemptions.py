"""Namespaces that a cluster needs to heal itself, and our own: the API server does not even ask about them."""

import pytest

import builders
from e2e.cluster import Cluster
from e2e.registration import decisions
from server_process import ServerProcess


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "kube-node-lease", "gpu-usher", "gpu-operator"])
def test_nothing_is_judged_or_changed_there(cluster: Cluster, webhooks: ServerProcess, namespace: str) -> None:
    """Not even a pod that asks for a GPU, tolerates nothing and takes all GPUs."""
    cluster.ensure_namespace(namespace)
    container = builders.container(gpus=1, env={"NVIDIA_VISIBLE_DEVICES": "all"})
    pod = builders.pod(container, name="device-plugin", namespace=namespace)

    stored = cluster.create(pod, dry_run=True)

    assert "affinity" not in stored["spec"]
    assert "annotations" not in stored["metadata"]
    assert all(toleration["key"].startswith("node.kubernetes.io/") for toleration in stored["spec"]["tolerations"])
    assert [each for each in decisions(webhooks, namespace) if each["kind"] not in ("Namespace", "ConfigMap")] == []
