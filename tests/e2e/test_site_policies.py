"""The API server asks usher about kinds that only policies of a site are about, and about each object once."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import builders
import opa_server
import site_bundles
from builders import policies
from e2e.cluster import ApiError, Cluster, KubectlError, Object, wait_until
from e2e.registration import decisions, registered, serving
from server_process import ServerProcess

pytestmark = opa_server.needs_opa

TEAM: Any = {"parameters": {"labels": ["team"]}}
GROUP = "example.com"


def definition(plural: str, kind: str) -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def of(kind: str, namespace: str, *, api_version: str = "v1", **labels: str) -> Object:
    metadata = {"name": "web", "namespace": namespace, **({"labels": labels} if labels else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _is_served(cluster: Cluster, plural: str) -> bool:
    """Whether kubectl can list a new kind; the API server may break off an answer while it begins to serve one."""
    try:
        cluster.kubectl("get", f"{plural}.{GROUP}")
    except KubectlError:
        return False
    return True


@pytest.fixture(scope="module")
def server(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with policies, which the API server asks about the kinds of their constraints."""
    folder = tmp_path_factory.mktemp("site")
    kinds = [
        {"apiGroups": [""], "kinds": ["ConfigMap"]},
        {"apiGroups": [GROUP], "kinds": ["Gateway"]},
        {"apiGroups": ["*"], "kinds": ["Pod"]},
    ]
    bundle = site_bundles.gatekeeper(
        folder,
        policies.template(),
        policies.constraint(match={"kinds": kinds, "excludedNamespaces": ["default"]}, **TEAM),
    )
    for plural, kind in (("gateways", "Gateway"), ("routes", "Route")):
        cluster.create(definition(plural, kind))
        wait_until(partial(_is_served, cluster, plural), description=f"{plural} are served")
    with (
        serving(folder, arguments=(f"--policies={bundle}",)) as running,
        registered(cluster, running, policies=[bundle]),
    ):
        yield running


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(("kind", "api_version"), [("ConfigMap", "v1"), ("Gateway", f"{GROUP}/v1")])
def test_a_policy_denies_a_kind_that_usher_has_no_check_for(
    cluster: Cluster, namespace: str, kind: str, api_version: str
) -> None:
    with pytest.raises(ApiError) as denied:
        cluster.create(of(kind, namespace, api_version=api_version), dry_run=True)

    assert 'admission webhook "policies.gpu-usher.io" denied the request' in denied.value.message
    assert f"{kind} {namespace}/web breaks 1 rule" in denied.value.message
    cluster.create(of(kind, namespace, api_version=api_version, team="a"), dry_run=True)


def test_the_api_server_asks_once_about_a_pod_and_never_about_other_kinds(
    cluster: Cluster, namespace: str, server: ServerProcess
) -> None:
    cluster.create(of("Route", namespace, api_version=f"{GROUP}/v1"), dry_run=True)
    pod = builders.pod(name="web", namespace=namespace)

    with pytest.raises(ApiError) as denied:
        cluster.create(pod, dry_run=True)

    assert 'admission webhook "validate.gpu-usher.io" denied the request' in denied.value.message

    def said() -> list[tuple[str, str]]:
        """The reviews of usher; controllers write ConfigMaps into a new namespace meanwhile."""
        asked = [(each["kind"], each["endpoint"]) for each in decisions(server, namespace)]
        return sorted(each for each in asked if each[0] in ("Pod", "Route"))

    wait_until(lambda: ("Pod", "validate") in said(), description="the answer is logged")
    assert said() == [("Pod", "mutate"), ("Pod", "validate")]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("namespace", ["kube-system", "gpu-usher"])
def test_namespaces_that_heal_a_cluster_and_that_of_usher_are_left_out(cluster: Cluster, namespace: str) -> None:
    cluster.ensure_namespace(namespace)

    let_in = cluster.create(of("ConfigMap", namespace), dry_run=True)

    assert let_in["metadata"]["namespace"] == namespace
