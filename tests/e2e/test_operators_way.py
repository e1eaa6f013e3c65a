"""docs/operations.md from the empty cluster to the last step, and nothing else in the cluster notices."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import builders
import helm
from e2e import accounts
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.load import Load, Outcomes
from e2e.operated import Installation, service
from integration import command

OBSERVE: Object = {"enforcement": {"preset": "observe"}}
WARN: Object = {"enforcement": {"preset": "observe", "rules": [{"check": "isolation", "action": "warn"}]}}
ENFORCE: Object = {"enforcement": {"preset": "recommended"}}
CLOSED: Object = {"mutate": {"failurePolicy": "Fail"}, "validate": {"failurePolicy": "Fail"}}
DEFINITION = "gpuquotas.gpu-usher.io"
REGISTRATION = "admissionregistration.k8s.io/v1"


def may_listen_for_services() -> bool:
    with contextlib.suppress(OSError), contextlib.closing(socket.create_server(("127.96.255.254", 443))):
        return True
    return False


pytestmark = [
    helm.needs_helm,
    pytest.mark.skipif(not may_listen_for_services(), reason="this account may not listen on port 443 of loopback"),
]


@pytest.fixture
def installation(cluster: Cluster, tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "helm").mkdir()
    made = Installation(cluster=cluster, directory=tmp_path)
    yield made
    made.close()
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        if cluster.exists(kind, "gpu-usher", api_version=REGISTRATION):
            cluster.delete(kind, "gpu-usher", api_version=REGISTRATION)
    cluster.kubectl("label", "namespace", "--all", "gpu-usher.io/exempt-")
    for name in accounts.NAMESPACES:
        if cluster.exists("Namespace", name):
            cluster.delete_namespace(name)
    definitions = "apiextensions.k8s.io/v1"
    if cluster.exists("CustomResourceDefinition", DEFINITION, api_version=definitions):
        cluster.delete("CustomResourceDefinition", DEFINITION, api_version=definitions)
        cluster.wait_until_gone("CustomResourceDefinition", DEFINITION, api_version=definitions)


@pytest.fixture
def tenant(cluster: Cluster, namespace: str) -> Cluster:
    return accounts.tenant(cluster, namespace)


@pytest.fixture
def others(cluster: Cluster) -> Iterator[Outcomes]:
    """Creates pods of other users without GPUs all the time, and keeps the results."""
    namespace = cluster.create_namespace(prefix="bystander-")

    def pod(name: str, namespace: str) -> Object:
        return builders.pod(builders.container(), name=name, namespace=namespace)

    load = Load(accounts.tenant(cluster, namespace), namespace=namespace, rate=5, make=pod)
    with load.running() as outcomes:
        yield outcomes
    cluster.delete_namespace(namespace, wait=False)


def greedy(namespace: str) -> Object:
    container = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    return builders.pod(container, name="greedy", namespace=namespace)


def with_gpu(namespace: str) -> Object:
    return builders.pod(builders.container(gpus=1), name="trains", namespace=namespace)


def refusal(cluster: Cluster, pod: Object) -> str:
    """Why a pod is refused; empty if it is let in."""
    try:
        cluster.create(pod, dry_run=True)
    except ApiError as error:
        return error.message
    return ""


@pytest.mark.thorough
def test_from_an_empty_cluster_to_enforced_and_back_other_pods_are_not_touched(
    installation: Installation, namespace: str, tenant: Cluster, others: Outcomes
) -> None:
    cluster = installation.cluster
    cluster.create(with_owner(namespace))

    # Install, and observe.
    notes = installation.helm("install", "--create-namespace", values={"config": OBSERVE})
    assert "usher preflight" in notes
    for _ in range(installation.deployment["replicas"]):
        installation.start()
    with service(installation):
        wait_until(lambda: bundles(cluster), description="the servers filled caBundle in")
        first = installation.running[0]
        wait_until(
            lambda: not refusal(tenant, greedy(namespace)) and observed(installation, namespace),
            description="the servers observe",
        )
        found = command.usher("preflight", "--kubeconfig", cluster.kubeconfig)
        assert found.code == 1
        assert "USH201" in found.out
        assert f"{namespace}/greedy" in found.out

        # Warn, then enforce; a server takes usher.yaml over while it runs.
        installation.helm("upgrade", values={"config": WARN})
        wait_until(lambda: "USH201" in warned(tenant, greedy(namespace)), description="the tenant is warned")
        installation.helm("upgrade", values={"config": ENFORCE, "webhooks": CLOSED})
        wait_until(lambda: "USH201" in refusal(tenant, greedy(namespace)), description="the tenant is refused")
        assert not refusal(tenant, with_gpu(namespace))

        # Rotate: the key has leaked.
        before = bundles(cluster)
        cluster.delete("Secret", "gpu-usher-certificates", namespace=helm.NAMESPACE)
        wait_until(lambda: bundles(cluster) not in ("", before), description="the CA is replaced")
        assert not refusal(tenant, with_gpu(namespace))

        # Upgrade: a pod more, then one less of the old ones.
        installation.helm("upgrade", values={"config": ENFORCE, "webhooks": CLOSED, "replicas": 3})
        assert installation.deployment["replicas"] == 3
        installation.start()
        installation.stop(first)
        installation.start()
        assert not refusal(tenant, with_gpu(namespace))

        # Break, and rescue.
        for server in list(installation.running):
            installation.stop(server, by=signal.SIGKILL)
        assert "failed calling webhook" in refusal(tenant, with_gpu(namespace))
        cluster.kubectl("label", "namespace", namespace, "gpu-usher.io/exempt=true")
        wait_until(lambda: not refusal(tenant, with_gpu(namespace)), description="the namespace is exempt")
        cluster.kubectl("label", "namespace", namespace, "gpu-usher.io/exempt-")
        installation.start()
        wait_until(lambda: not refusal(tenant, with_gpu(namespace)), description="the webhooks answer again")
        assert "USH201" in refusal(tenant, greedy(namespace))

        # Remove.
        removed = command.usher("uninstall", "--kubeconfig", cluster.kubeconfig, "--yes")
        assert removed.code == 0, removed.err
    wait_until(lambda: not refusal(tenant, greedy(namespace)), description="no webhook is asked")
    assert others.sent > 100
    assert others.refused == {}


def with_owner(namespace: str) -> Object:
    """A Job from before usher, which the preset would deny."""
    container = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    template = builders.template(container, restartPolicy="Never")
    return builders.job(template, name="greedy", namespace=namespace, suspend=True)


def bundles(cluster: Cluster) -> str:
    """The one caBundle of all webhooks; empty while there is not one."""
    found = {
        webhook["clientConfig"].get("caBundle", "")
        for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
        for webhook in cluster.get(kind, "gpu-usher", api_version=REGISTRATION)["webhooks"]
    }
    return found.pop() if len(found) == 1 else ""


def observed(installation: Installation, namespace: str) -> bool:
    return any(
        line.get("observed") and line["namespace"] == namespace
        for server in installation.running
        for line in server.log("decision")
    )


def warned(tenant: Cluster, pod: Object) -> str:
    """The warnings of kubectl about an admitted pod."""
    return "\n".join(tenant.answer_to_creation(pod, dry_run=True).warnings)
