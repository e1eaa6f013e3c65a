"""The server's account in a cluster, with the rights that files of manifests/ give and no others."""

import dataclasses
import json
from pathlib import Path
from typing import Final

import yaml

from e2e.cluster import Cluster, Object

MANIFESTS: Final = Path(__file__).parents[2] / "manifests"
NAMESPACE: Final = "gpu-usher"
OF_QUOTAS: Final = "gpu-usher-quotas"
"""The namespace in which the server may write ConfigMaps."""
NAMESPACES: Final = (NAMESPACE, OF_QUOTAS)

OF_FACTS: Final = ("base/rbac.yaml", "base/facts-role.yaml", "config-maps/role.yaml", "kueue/facts-role.yaml")
"""Roles to read all facts, those included that a site adds."""


def granted(cluster: Cluster, *files: str) -> list[Object]:
    """Applies files of manifests/ and returns what they hold; the namespaces of the account and its roles are there."""
    applied: list[Object] = []
    for file in files:
        for each in yaml.safe_load_all((MANIFESTS / file).read_text()):
            if each["kind"] == "ServiceAccount":
                each["metadata"]["namespace"] = NAMESPACE
            cluster.apply(each)
            applied.append(each)
    return applied


def kubeconfig(cluster: Cluster, name: str = "gpu-usher") -> Path:
    """A new kubeconfig of the account, which is there."""
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    token = cluster.account_token("gpu-usher", namespace=NAMESPACE)
    content["users"][0]["user"] = {"token": token}
    file = cluster.directory / f"{name}.kubeconfig"
    file.write_text(json.dumps(content))
    return file


def tenant(cluster: Cluster, namespace: str) -> Cluster:
    """The cluster for an account that RBAC forbids nothing, and that usher takes for a tenant of the namespace."""
    user = f"system:serviceaccount:{namespace}:tenant"
    cluster.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "tenant", "namespace": namespace}}
    )
    cluster.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"tenant-{namespace}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }
    )
    return dataclasses.replace(cluster, token=cluster.account_token("tenant", namespace=namespace))
