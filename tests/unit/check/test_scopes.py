"""Whether kinds are namespaced, and objects in the namespace of a command."""

import pytest

from usher import paths
from usher.check import site_policies


def thing(api_version: str, kind: str, **metadata: paths.Json) -> paths.Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", **metadata}}


@pytest.mark.parametrize(
    ("api_version", "kind", "namespaced"),
    [
        ("v1", "Service", True),
        ("apps/v1", "Deployment", True),
        ("networking.k8s.io/v1", "Ingress", True),
        ("networking.k8s.io/v1", "IngressClass", False),
        ("v1", "Namespace", False),
        ("v1", "Node", False),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", False),
        ("kueue.x-k8s.io/v1beta1", "LocalQueue", True),
        ("kueue.x-k8s.io/v1beta1", "ClusterQueue", False),
        ("example.com/v1", "Thing", False),
    ],
)
def test_a_namespaced_object_gets_the_namespace_of_the_command(
    api_version: str, kind: str, *, namespaced: bool
) -> None:
    value = thing(api_version, kind)

    assert paths.metadata(site_policies.in_namespace(value, namespace="shop")).get("namespace") == (
        "shop" if namespaced else None
    )


def test_an_object_keeps_its_own_namespace_and_the_given_object_is_not_changed() -> None:
    value, bare = thing("v1", "Service", namespace="bank"), thing("v1", "Service")

    assert site_policies.in_namespace(value, namespace="shop") is value
    assert site_policies.in_namespace(bare, namespace="shop") is not bare
    assert "namespace" not in paths.metadata(bare)
    assert site_policies.in_namespace({"metadata": None}, namespace="shop") == {"metadata": None}
