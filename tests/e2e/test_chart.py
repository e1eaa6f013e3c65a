"""The Helm chart on a real API server: installed, upgraded and removed."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import builders
import helm
from e2e import accounts, crds
from e2e.cluster import Cluster
from e2e.pods import running_pods

pytestmark = helm.needs_helm

REGISTRATION = "admissionregistration.k8s.io/v1"
DEFINITIONS = "apiextensions.k8s.io/v1"
DEFINITION = "gpuquotas.gpu-usher.io"
CLOSED = ("--set=webhooks.mutate.failurePolicy=Fail", "--set=webhooks.validate.failurePolicy=Fail")
CONFIGURATIONS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@pytest.fixture
def site(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster, and afterwards nothing of ours."""
    yield cluster
    for kind in CONFIGURATIONS:
        if cluster.exists(kind, "gpu-usher", api_version=REGISTRATION):
            cluster.delete(kind, "gpu-usher", api_version=REGISTRATION)
    for name in accounts.NAMESPACES:
        if cluster.exists("Namespace", name):
            cluster.delete_namespace(name)
    if cluster.exists("CustomResourceDefinition", DEFINITION, api_version=DEFINITIONS):
        cluster.delete("CustomResourceDefinition", DEFINITION, api_version=DEFINITIONS)
        cluster.wait_until_gone("CustomResourceDefinition", DEFINITION, api_version=DEFINITIONS)


def test_it_is_installed_upgraded_and_removed_without_a_trace(site: Cluster, tmp_path: Path) -> None:
    where = [f"--namespace={helm.NAMESPACE}", f"--kubeconfig={site.kubeconfig}"]

    refused = helm.run(
        ["install", "gpu-usher", helm.CHART, "--create-namespace", *CLOSED, *where], home=tmp_path, code=1
    )
    assert "no server is ready: install with Ignore, wait" in refused
    notes = helm.run(["install", "gpu-usher", helm.CHART, "--create-namespace", *where], home=tmp_path)
    assert "usher preflight" in notes
    running_pods(site, helm.NAMESPACE, count=2)
    crds.wait_until_served(site, "gpu-usher.io/gpuquotas")
    site.create(builders.gpu_quota("research", namespaces=["ml-*"], limits=[{"hard": {"gpus": 8}}]))

    refused = helm.run(["upgrade", "gpu-usher", helm.CHART, *CLOSED, *where], home=tmp_path, code=1)
    assert "no server is ready" in refused, "no server has filled caBundle in yet"
    trust_a_ca(site)
    helm.run(["upgrade", "gpu-usher", helm.CHART, "--set=replicas=3", *where], home=tmp_path)
    running_pods(site, helm.NAMESPACE, count=3)
    assert bundles(site) == {base64.b64encode(b"CA").decode()}, "an upgrade keeps what the server has written"

    names = len(webhooks(site))
    helm.run(["upgrade", "gpu-usher", helm.CHART, "--set=replicas=3", *CLOSED, *where], home=tmp_path)
    assert len(webhooks(site)) == names + 2
    assert bundles(site) == {base64.b64encode(b"CA").decode()}, "a new webhook trusts the server from its first moment"
    site.kubectl("scale", "deployment/gpu-usher", "--replicas=0", f"--namespace={helm.NAMESPACE}")
    helm.run(["upgrade", "gpu-usher", helm.CHART, "--set=replicas=2", *CLOSED, *where], home=tmp_path)
    assert bundles(site) == {base64.b64encode(b"CA").decode()}, "what failed closed before can always be repaired"

    with site.with_ending_namespaces():
        helm.run(["uninstall", "gpu-usher", "--wait", *where], home=tmp_path)
    assert not any(site.exists(kind, "gpu-usher", api_version=REGISTRATION) for kind in CONFIGURATIONS)
    assert not site.exists("ClusterRole", "gpu-usher-facts", api_version="rbac.authorization.k8s.io/v1")
    assert site.exists("GPUQuota", "research", namespace="", api_version="gpu-usher.io/v1alpha1")


def trust_a_ca(cluster: Cluster) -> None:
    """As the server does when it has made a certificate."""
    for kind in CONFIGURATIONS:
        value = cluster.get(kind, "gpu-usher", api_version=REGISTRATION)
        for webhook in value["webhooks"]:
            webhook["clientConfig"]["caBundle"] = base64.b64encode(b"CA").decode()
        cluster.replace({**value, "kind": kind, "apiVersion": REGISTRATION})


def webhooks(cluster: Cluster) -> list[Any]:
    configurations = [cluster.get(kind, "gpu-usher", api_version=REGISTRATION) for kind in CONFIGURATIONS]
    return [webhook for each in configurations for webhook in each["webhooks"]]


def bundles(cluster: Cluster) -> set[str]:
    return {webhook["clientConfig"].get("caBundle", "") for webhook in webhooks(cluster)}
