"""gpu-usher goes from a cluster and leaves nothing in its way: pods start, and GPUQuotas are still there."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import builders
from e2e import accounts, crds
from e2e.cluster import ApiError, Cluster, wait_until
from e2e.registration import serving
from integration import command

FOLDERS = ("crds", "base", "config-maps")
CONFIGURATIONS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
REGISTRATION = "admissionregistration.k8s.io/v1"
DEFINITIONS = "apiextensions.k8s.io/v1"
DEFINITION = "gpuquotas.gpu-usher.io"


@pytest.fixture(scope="module")
def tenant(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster for a tenant in a namespace of its own."""
    namespace = cluster.create_namespace(prefix="tenant-")
    yield accounts.tenant(cluster, namespace)
    cluster.delete_namespace(namespace, wait=False)


@pytest.fixture
def installed(cluster: Cluster, tenant: Cluster, tmp_path: Path) -> Iterator[Cluster]:
    """An installation that fails closed, whose server is gone already, with a GPUQuota."""
    for folder in FOLDERS:
        cluster.kubectl("apply", "--kustomize", str(accounts.MANIFESTS / folder))
    crds.wait_until_served(cluster, "gpu-usher.io/gpuquotas")
    cluster.create(builders.gpu_quota("research", namespaces=["ml-*"], limits=[{"hard": {"gpus": 8}}]))
    with serving(tmp_path) as server:
        printed = command.usher(
            *("manifests", "webhooks", "--url", server.url, "--ca-bundle", server.ca_file),
            *("--validate-failure-policy", "Fail"),
        )
        cluster.kubectl("apply", "--filename=-", stdin=printed.out)
        server.running.process.send_signal(signal.SIGKILL)
        server.running.process.wait(timeout=60)
    wait_until(lambda: not is_let_in(tenant), description="pods with GPUs wait for the server")
    yield cluster
    for kind in CONFIGURATIONS:
        if cluster.exists(kind, "gpu-usher", api_version=REGISTRATION):
            cluster.delete(kind, "gpu-usher", api_version=REGISTRATION)
    for folder in reversed(FOLDERS):
        path = str(accounts.MANIFESTS / folder)
        cluster.kubectl("delete", "--kustomize", path, "--ignore-not-found", "--wait=false")
    for name in accounts.NAMESPACES:
        cluster.wait_until_gone("Namespace", name)
    cluster.wait_until_gone("CustomResourceDefinition", DEFINITION, api_version=DEFINITIONS)


def is_let_in(tenant: Cluster) -> bool:
    pod = builders.pod(builders.container(gpus=1), name="trainer", namespace="default")
    try:
        tenant.create(pod, dry_run=True)
    except ApiError as error:
        if "gpu-usher.io" not in error.message:
            raise
        return False
    return True


def uninstall(cluster: Cluster, *arguments: str, stdin: str = "", code: int = 0) -> list[str]:
    done = command.usher("uninstall", "--kubeconfig", cluster.kubeconfig, *arguments, stdin=stdin)
    assert done.code == code, done.err
    return done.out.splitlines()


def configurations(cluster: Cluster) -> list[bool]:
    return [cluster.exists(kind, "gpu-usher", api_version=REGISTRATION) for kind in CONFIGURATIONS]


def quotas(cluster: Cluster) -> list[str]:
    found = cluster.request("GET", "/apis/gpu-usher.io/v1alpha1/gpuquotas").body["items"]
    return [each["metadata"]["name"] for each in found]


def test_pods_start_afterwards_and_quotas_are_still_there(installed: Cluster, tenant: Cluster) -> None:
    planned = uninstall(installed, "--dry-run")
    assert "  ValidatingWebhookConfiguration gpu-usher" in planned
    assert planned[-1].startswith("1 GPUQuota and their definition stay; --with-quotas would delete them")
    uninstall(installed, stdin="n\n", code=130)
    assert configurations(installed) == [True, True]

    printed = uninstall(installed, "--yes")

    removed = [line for line in printed if line.startswith("deleted: ")]
    assert removed[:2] == [f"deleted: {kind} gpu-usher" for kind in CONFIGURATIONS]
    assert removed[-1] == "deleted: Namespace gpu-usher"
    wait_until(lambda: is_let_in(tenant), description="the API server asks no webhook")
    assert configurations(installed) == [False, False]
    assert quotas(installed) == ["research"]
    for name in accounts.NAMESPACES:
        installed.wait_until_gone("Namespace", name)
    assert uninstall(installed, "--yes")[0].endswith(": 0 objects of gpu-usher")
    assert left_behind(installed) == []


def left_behind(cluster: Cluster) -> list[str]:
    """Objects of the cluster that have our name."""
    kinds = "clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,namespaces"
    listed = yaml.safe_load(cluster.kubectl("get", kinds, "--output=json"))["items"]
    return [each["metadata"]["name"] for each in listed if each["metadata"]["name"].startswith("gpu-usher")]


def test_quotas_go_only_if_one_says_so_and_a_namespace_of_others_stays(installed: Cluster) -> None:
    installed.kubectl("label", "namespace", accounts.NAMESPACE, "app.kubernetes.io/part-of-")

    printed = uninstall(installed, "--yes", "--with-quotas")

    assert "--with-quotas deletes 1 GPUQuota, and no quota holds afterwards" in printed
    assert printed[-2].startswith("kept, because gpu-usher did not make it: Namespace gpu-usher")
    assert printed[-1] == f"deleted: CustomResourceDefinition {DEFINITION}"
    installed.wait_until_gone("CustomResourceDefinition", DEFINITION, api_version=DEFINITIONS)
    assert installed.exists("Namespace", accounts.NAMESPACE)
    assert not installed.exists("Deployment", "gpu-usher", namespace=accounts.NAMESPACE, api_version="apps/v1")


def test_what_may_not_be_deleted_stops_it_before_anything_else_goes(installed: Cluster, tmp_path: Path) -> None:
    """An account without the right to delete webhooks; if the server went, they would still refuse pods."""
    content = yaml.safe_load(installed.kubeconfig.read_text())
    installed.kubectl("create", "serviceaccount", "reader", "--namespace=default")
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}
    installed.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "reader"},
            "rules": [everything],
        }
    )
    installed.kubectl(
        "create", "clusterrolebinding", "reader", "--clusterrole=reader", "--serviceaccount=default:reader"
    )
    content["users"][0]["user"] = {"token": installed.kubectl("create", "token", "reader").strip()}
    kubeconfig = tmp_path / "reader.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(content))

    done = command.usher("uninstall", "--yes", "--kubeconfig", kubeconfig)

    assert done.code == 2
    assert "validatingwebhookconfigurations/gpu-usher cannot be deleted" in done.err
    assert "deleted:" not in done.out
    assert installed.exists("Deployment", "gpu-usher", namespace=accounts.NAMESPACE, api_version="apps/v1")
