"""The server's account may do what the server does, and nothing else, as the API server's own authorizer says."""

import base64
import dataclasses
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from e2e import accounts
from e2e.cluster import ApiError, Cluster, Object, wait_until
from usher.server.certs import managed

BASE = accounts.MANIFESTS / "base"
ACCOUNT = f"system:serviceaccount:{accounts.NAMESPACE}:gpu-usher"
CONFIG_MAPS = accounts.MANIFESTS / "config-maps"


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with manifests/crds and manifests/base as they are."""
    crds = accounts.MANIFESTS / "crds"
    for directory in (crds, BASE):
        cluster.kubectl("apply", "--kustomize", str(directory))
    yield cluster
    for directory in (BASE, crds):
        cluster.kubectl("delete", "--kustomize", str(directory), "--ignore-not-found", "--wait=false")
    for name in accounts.NAMESPACES:
        cluster.wait_until_gone("Namespace", name)
    cluster.wait_until_gone("CustomResourceDefinition", "gpuquotas.gpu-usher.io", api_version="apiextensions.k8s.io/v1")


@pytest.fixture(scope="module")
def server(site: Cluster) -> Cluster:
    """The cluster, as the server's own token sees it."""
    token = site.kubectl("create", "token", "gpu-usher", f"--namespace={accounts.NAMESPACE}").strip()
    return dataclasses.replace(site, token=token)


def may(cluster: Cluster, verb: str, resource: str, *, namespace: str = "", name: str = "") -> bool:
    """The answer of a SelfSubjectAccessReview."""
    group, _, plural = resource.rpartition("/")
    plural, _, subresource = plural.partition(":")
    attributes = {"verb": verb, "group": group, "resource": plural, "subresource": subresource}
    review: Object = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {"name": ""},
        "spec": {"resourceAttributes": {**attributes, "namespace": namespace, "name": name}},
    }
    answer = cluster.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    return bool(answer.body["status"]["allowed"])


@pytest.mark.parametrize(
    ("verb", "resource", "namespace"),
    [
        ("watch", "nodes", ""),
        ("list", "pods", ""),
        ("list", "batch/jobs", ""),
        ("get", "kueue.x-k8s.io/clusterqueues", ""),
        ("update", "gpu-usher.io/gpuquotas:status", ""),
        ("create", "configmaps", accounts.OF_QUOTAS),
        ("delete", "configmaps", accounts.OF_QUOTAS),
    ],
)
def test_what_the_server_does_it_may_do(server: Cluster, verb: str, resource: str, namespace: str) -> None:
    assert may(server, verb, resource, namespace=namespace)


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "get", "list"])
def test_the_server_cannot_read_or_write_config_maps_beside_its_own(server: Cluster, verb: str) -> None:
    assert not may(server, verb, "configmaps", namespace=accounts.NAMESPACE, name="gpu-usher")
    assert not may(server, verb, "configmaps", namespace="default")


@pytest.mark.parametrize(
    ("verb", "resource", "namespace"),
    [
        ("list", "secrets", accounts.NAMESPACE),
        ("get", "secrets", ""),
        ("get", "secrets", accounts.NAMESPACE),
        ("create", "secrets", accounts.NAMESPACE),
        ("patch", "admissionregistration.k8s.io/validatingwebhookconfigurations", ""),
        ("create", "admissionregistration.k8s.io/mutatingwebhookconfigurations", ""),
        ("update", "admissionregistration.k8s.io/validatingadmissionpolicies", ""),
        ("create", "pods", accounts.OF_QUOTAS),
        ("create", "pods:exec", ""),
        ("update", "gpu-usher.io/gpuquotas", ""),
        ("delete", "gpu-usher.io/gpuquotas", ""),
        ("update", "admissionregistration.k8s.io/validatingwebhookconfigurations", ""),
        ("update", "apps/deployments", accounts.NAMESPACE),
        ("create", "rbac.authorization.k8s.io/rolebindings", accounts.OF_QUOTAS),
        ("impersonate", "users", ""),
        ("create", "serviceaccounts:token", accounts.NAMESPACE),
        ("patch", "nodes", ""),
    ],
)
def test_what_the_server_does_not_do_it_may_not_do(server: Cluster, verb: str, resource: str, namespace: str) -> None:
    assert not may(server, verb, resource, namespace=namespace)


def test_a_server_that_tries_to_write_its_own_configuration_is_refused(site: Cluster, server: Cluster) -> None:
    path = f"/api/v1/namespaces/{accounts.NAMESPACE}/configmaps"
    weaker: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "gpu-usher", "namespace": accounts.NAMESPACE},
        "data": {"usher.yaml": "exemptNamespaces: ['*']"},
    }
    for method, place in (("POST", path), ("PUT", f"{path}/gpu-usher"), ("DELETE", f"{path}/gpu-usher")):
        with pytest.raises(ApiError, match="configmaps") as refused:
            server.request(method, place, body=weaker)
        assert refused.value.status == 403

    kept = site.get("ConfigMap", "gpu-usher", namespace=accounts.NAMESPACE)
    assert "exemptNamespaces" not in kept["data"]["usher.yaml"]


@pytest.mark.parametrize("kind", ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"])
def test_of_webhook_configurations_it_may_patch_its_own_alone(server: Cluster, kind: str) -> None:
    resource = f"admissionregistration.k8s.io/{kind}"

    assert may(server, "patch", resource, name="gpu-usher")
    assert not may(server, "update", resource, name="gpu-usher")
    assert not may(server, "delete", resource, name="gpu-usher")
    assert not may(server, "patch", resource, name="kyverno")


def test_of_secrets_it_may_write_its_own_alone(server: Cluster) -> None:
    path = f"/api/v1/namespaces/{accounts.NAMESPACE}/secrets"
    kept = f"{path}/gpu-usher-certificates"
    assert server.request("GET", kept).body["metadata"]["name"] == "gpu-usher-certificates"
    other: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other"}}

    for method, place, content in (
        ("GET", f"{path}/other", "json"),
        ("GET", path, "json"),
        ("POST", path, "json"),
        ("PATCH", f"{path}/other", "apply-patch+yaml"),
        ("DELETE", kept, "json"),
    ):
        query = {"fieldManager": "test"} if method == "PATCH" else {}
        with pytest.raises(ApiError, match="secrets") as refused:
            server.request(method, place, body=other, content=content, query=query)
        assert refused.value.status == 403


CA_BUNDLE = "/webhooks/0/clientConfig/caBundle"
OTHERS = [
    ("/webhooks/0/clientConfig", {"url": "https://203.0.113.1/steal"}),
    ("/webhooks/0/clientConfig/service/namespace", "tenant"),
    ("/webhooks/0/failurePolicy", "Fail"),
    ("/webhooks/0/rules", [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"], "operations": ["*"]}]),
    ("/webhooks/0/namespaceSelector", {}),
    ("/webhooks/0/objectSelector", {"matchLabels": {"a": "b"}}),
    ("/webhooks/0/timeoutSeconds", 30),
    ("/webhooks/0/matchConditions", [{"name": "never", "expression": "false"}]),
    ("/webhooks/0/matchPolicy", "Exact"),
    ("/webhooks/0/name", "other.gpu-usher.io"),
    ("/metadata/labels", {"a": "b"}),
    ("/metadata/annotations", {"cert-manager.io/inject-ca-from": "tenant/ca"}),
]


@pytest.mark.parametrize("kind", ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"])
def test_the_api_server_lets_it_change_ca_bundle_and_nothing_else(site: Cluster, server: Cluster, kind: str) -> None:
    """Who steals its token cannot have objects sent elsewhere."""
    path = f"/apis/admissionregistration.k8s.io/v1/{kind}/gpu-usher"
    bundle = base64.b64encode(managed.advance(None, names=["a"], now=datetime.now(UTC), trusted=True).bundle).decode()
    site.kubectl("apply", "--kustomize", str(accounts.MANIFESTS / "webhooks"))

    def patch(place: str, value: object) -> None:
        operations = json.dumps([{"op": "add", "path": place, "value": value}])
        server.request("PATCH", path, body=operations, content="json-patch+json", query={"dryRun": "All"})

    try:
        wait_until(lambda: is_refused(partial(patch, *OTHERS[0])), description="the policy is in force")
        patch(CA_BUNDLE, bundle)
        first = site.request("GET", path).body["webhooks"][0]
        effects = {"None": "NoneOnDryRun", "NoneOnDryRun": "None"}[first["sideEffects"]]
        changes = [*OTHERS, ("/webhooks/0/sideEffects", effects), ("/webhooks/-", {**first, "name": "b.c.d"})]
        changes += [("/webhooks/0/reinvocationPolicy", "Never")] if "reinvocationPolicy" in first else []
        for place, value in changes:
            assert is_refused(partial(patch, place, value)), place
        with pytest.raises(ApiError, match="it adds, removes and moves no webhook"):
            server.request("PATCH", path, body='[{"op": "remove", "path": "/webhooks/0"}]', content="json-patch+json")
    finally:
        site.kubectl("delete", "--kustomize", str(accounts.MANIFESTS / "webhooks"))


def is_refused(change: Callable[[], None]) -> bool:
    try:
        change()
    except ApiError as error:
        return "gpu-usher changes only caBundle of its webhook configurations" in error.message
    return False


def test_a_site_can_let_it_list_config_maps(site: Cluster, server: Cluster) -> None:
    """It may read their contents then, which RBAC cannot prevent; it may write none of them."""
    site.kubectl("apply", "--kustomize", str(CONFIG_MAPS))
    try:
        assert may(server, "list", "configmaps")
        assert not may(server, "update", "configmaps", namespace="default")
    finally:
        site.kubectl("delete", "--kustomize", str(CONFIG_MAPS))


def test_the_tests_use_the_roles_that_people_deploy() -> None:
    """Tests of quotas and facts run servers with these files."""
    listed = (BASE / "kustomization.yaml").read_text()

    for file in ("rbac.yaml", "facts-role.yaml", "quota-role.yaml", "certificate-role.yaml"):
        assert f"- {file}" in listed
        assert Path(BASE / file).is_file()
