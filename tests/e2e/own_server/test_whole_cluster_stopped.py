"""The whole cluster stops and starts again, with webhooks that fail closed: it heals without a hand."""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import builders
import server_process
from e2e import accounts, api_server_alone, ports
from e2e.api_server_alone import ApiServerAlone
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.processes import LOOPBACK
from integration import command

TEAM = "team"
HEALING = ("kube-system", "calico-system", accounts.NAMESPACE)
LEASE: Object = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "node", "namespace": TEAM},
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ApiServerAlone]:
    """A cluster without controllers, with the server's account and a namespace of tenants."""
    directory = tmp_path / "cluster"
    directory.mkdir()
    with api_server_alone.prepared(directory) as alone:
        alone.start()
        for name in (*accounts.NAMESPACES, TEAM, "calico-system"):
            alone.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for name in (*HEALING, TEAM):
            account = {"name": "default", "namespace": name}
            alone.cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        accounts.granted(alone.cluster, "base/rbac.yaml", "base/facts-role.yaml")
        yield alone


def created(cluster: Cluster, namespace: str, *, gpus: int = 0) -> Object:
    """A pod as it would be stored."""
    pod = builders.pod(builders.container(gpus=gpus), name="probe", namespace=namespace)
    return cluster.create(pod, dry_run=True)


def is_let_in(cluster: Cluster, namespace: str, *, gpus: int = 0) -> bool:
    with contextlib.suppress(ApiError):
        return bool(created(cluster, namespace, gpus=gpus))
    return False


def test_after_a_stop_of_everything_the_cluster_comes_back_before_the_webhooks(
    site: ApiServerAlone, tmp_path: Path
) -> None:
    """Objects that heal a cluster start while no webhook answers: its namespaces, leases of nodes, and our server."""
    cluster, tenant = site.cluster, accounts.tenant(site.cluster, TEAM)
    (port,) = ports.free(1)
    arguments = ("--live", f"--kubeconfig={accounts.kubeconfig(cluster)}", f"--port={port}")
    with server_process.running(tmp_path, arguments=arguments) as server:
        printed = command.usher(
            *("manifests", "webhooks", "--url", f"https://{LOOPBACK}:{port}", "--ca-bundle", server.ca_file),
            *("--mutate-failure-policy", "Fail", "--validate-failure-policy", "Fail"),
        )
        cluster.kubectl("apply", "--filename=-", stdin=printed.out)
        wait_until(
            lambda: "annotations" in created(tenant, TEAM, gpus=1)["metadata"], description="the webhooks are asked"
        )
        server.running.process.send_signal(signal.SIGINT)
    site.stop()

    site.start()

    with pytest.raises(ApiError, match="failed calling webhook"):
        created(tenant, TEAM, gpus=1)
    assert is_let_in(tenant, TEAM), "what asks for no GPUs does not wait for us"
    assert [name for name in HEALING if not is_let_in(tenant, name, gpus=1)] == [], "these heal a cluster"
    cluster.create(LEASE, dry_run=True)
    with server_process.running(tmp_path, arguments=arguments) as server:
        wait_until(lambda: is_let_in(tenant, TEAM, gpus=1), description="the webhooks answer again")
        server.running.process.send_signal(signal.SIGINT)
