"""Metrics behind a token: the API server knows whose it is, and RBAC says who may read them."""

import contextlib
import http.client
import signal
import ssl
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import forked_server
from e2e import accounts, ports, processes
from e2e.cluster import Cluster
from integration import command

READERS = accounts.MANIFESTS / "monitoring" / "service-monitor.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPort:
    port: int
    tls: ssl.SSLContext

    def status(self, path: str, *, token: str = "") -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection = http.client.HTTPSConnection(processes.LOOPBACK, self.port, timeout=60, context=self.tls)
        with contextlib.closing(connection):
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


@pytest.fixture(scope="module")
def admin(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdminPort]:
    """The admin port of a server with the rights of manifests/base."""
    directory = tmp_path_factory.mktemp("usher")
    for name in accounts.NAMESPACES:
        cluster.ensure_namespace(name)
    applied = accounts.granted(
        cluster, *(f"base/{name}.yaml" for name in ("rbac", "facts-role", "quota-role", "metrics-role"))
    )
    kubeconfig = accounts.kubeconfig(cluster, "metrics")
    command.usher("certs", "issue", "--dir", directory, "--name", processes.LOOPBACK)
    tls = ssl.create_default_context(cafile=directory / "ca.crt")
    port, admin_port = ports.free(2)
    arguments = [
        *("serve", f"--certificate={directory / 'tls.crt'}", f"--key={directory / 'tls.key'}"),
        *(f"--host={processes.LOOPBACK}", f"--port={port}", f"--admin-port={admin_port}"),
        *("--live", f"--kubeconfig={kubeconfig}", "--metrics-access=token"),
    ]
    server = processes.start(
        "usher",
        [*forked_server.command_line(command.environment()), *arguments],
        health=f"https://{processes.LOOPBACK}:{admin_port}/readyz",
        log=directory / "usher.log",
        env=command.environment(),
    )
    try:
        processes.wait_until_ready([server], tls=tls)
        yield AdminPort(port=admin_port, tls=tls)
    finally:
        server.process.send_signal(signal.SIGINT)
        processes.stop(server.process)
        bindings = ["clusterrolebinding/gpu-usher-metrics-reader", "clusterrolebinding/e2e-scraper"]
        of_readers = ["serviceaccount/curious", "serviceaccount/scraper"]
        cluster.kubectl("delete", "--ignore-not-found", "--namespace=default", *bindings, *of_readers)
        for each in reversed(applied):
            # Objects in a namespace are deleted with it.
            if "namespace" not in each["metadata"]:
                cluster.delete(each["kind"], each["metadata"]["name"], api_version=each["apiVersion"])
        for name in accounts.NAMESPACES:
            cluster.delete_namespace(name, wait=False)
        for name in accounts.NAMESPACES:
            cluster.wait_until_gone("Namespace", name)


def token(cluster: Cluster, account: str) -> str:
    cluster.kubectl("create", "serviceaccount", account, "--namespace=default")
    return cluster.kubectl("create", "token", account, "--namespace=default").strip()


def test_probes_need_no_token(admin: AdminPort) -> None:
    assert admin.status("/readyz") == (200, "ok\n")
    assert admin.status("/healthz") == (200, "ok\n")


def test_a_stranger_reads_no_metrics(admin: AdminPort) -> None:
    for given in ("", "nonsense", "x" * 10_000):
        assert admin.status("/metrics", token=given) == (401, "Unauthorized\n")


def test_rbac_says_who_reads_them(cluster: Cluster, admin: AdminPort) -> None:
    of_tenant, of_scraper = token(cluster, "curious"), token(cluster, "scraper")
    cluster.kubectl(
        *("create", "clusterrolebinding", "e2e-scraper", "--clusterrole=gpu-usher-metrics-reader"),
        "--serviceaccount=default:scraper",
    )

    assert admin.status("/metrics", token=of_tenant) == (403, "Forbidden\n")
    status, text = admin.status("/metrics", token=of_scraper)
    assert status == 200
    assert "usher_facts_objects" in text


def test_the_account_of_the_service_monitor_reads_them(cluster: Cluster, admin: AdminPort) -> None:
    """Its own ServiceAccount and binding, whose token Prometheus gets from a Secret."""
    of_monitor = [each for each in READERS.read_text().split("---") if "ServiceMonitor" not in each]
    text = "---".join(each for each in of_monitor if "gpu-usher-scraper" in each)
    cluster.kubectl("apply", "--filename=-", f"--namespace={accounts.NAMESPACE}", stdin=text)
    secret = ("get", "secret", "gpu-usher-scraper", f"--namespace={accounts.NAMESPACE}")
    kept = cluster.kubectl(*secret, "--output=go-template={{.data.token | base64decode}}")

    assert admin.status("/metrics", token=kept.strip())[0] == 200
