"""While no webhook server answers, the cluster goes on; as soon as one answers again, it decides again."""

import contextlib
import signal
from pathlib import Path

import pytest

import builders
from e2e.cluster import ApiError, Cluster, KubectlError, wait_until
from e2e.pods import running_pods
from e2e.registration import decisions, registered, serving


def was_changed(cluster: Cluster, namespace: str, *, name: str) -> bool:
    """Whether a pod that is created now gets what the mutating webhook gives it."""
    pod = cluster.create(builders.pod(name=name, namespace=namespace))
    return "gpu-usher.io/mutations" in pod["metadata"].get("annotations", {})


def test_pods_start_without_the_server_and_are_changed_again_when_it_is_back(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """The configurations stay, and so does the certificate; the process is another one."""
    with contextlib.ExitStack() as stack:
        with serving(tmp_path) as first:
            stack.enter_context(registered(cluster, first))
            assert was_changed(cluster, namespace, name="with")
            certificate = (tmp_path / "tls.crt").read_bytes()

        assert first.running.process.returncode == 0
        assert not was_changed(cluster, namespace, name="without")
        running_pods(cluster, namespace, count=2)

        with serving(tmp_path, port=first.port) as second:
            numbers = iter(range(100))
            wait_until(
                lambda: was_changed(cluster, namespace, name=f"again-{next(numbers)}"),
                description="the API server has found the server again",
            )
            assert second.pid != first.pid
            assert (tmp_path / "tls.crt").read_bytes() == certificate
            assert {entry["name"] for entry in decisions(second, namespace)} >= {"with", "again-0"}
            assert "without" not in {entry["name"] for entry in decisions(second, namespace)}


def test_only_an_administrator_can_exempt_a_namespace_while_the_server_is_away(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """All else that happens to namespaces does not wait for us."""
    cluster.kubectl("create", "clusterrolebinding", "dora", "--clusterrole=cluster-admin", "--user=dora")
    tenant = ("--as=dora", "--as-group=tenants")
    with contextlib.ExitStack() as stack:
        with serving(tmp_path) as server:
            stack.enter_context(registered(cluster, server))

        with pytest.raises(KubectlError, match=r"exemptions\.gpu-usher\.io"):
            cluster.kubectl("label", "namespace", namespace, "gpu-usher.io/exempt=true", *tenant)
        cluster.kubectl("label", "namespace", namespace, "team=nlp", *tenant)
        cluster.kubectl("label", "namespace", namespace, "gpu-usher.io/exempt=true")


def test_a_server_that_shuts_down_answers_until_the_api_server_disconnects(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """No review is lost between the signal and the end, although the connection is kept open for the next one."""
    with serving(tmp_path) as server, registered(cluster, server):
        assert was_changed(cluster, namespace, name="before")

        server.running.process.send_signal(signal.SIGTERM)

        assert was_changed(cluster, namespace, name="after")
        assert "after" in {entry["name"] for entry in decisions(server, namespace)}


def test_usher_yaml_can_be_changed_while_the_server_is_away(cluster: Cluster, tmp_path: Path) -> None:
    """The change may be the one that lets a server start again."""
    cluster.ensure_namespace("gpu-usher")
    metadata = {"name": "gpu-usher", "namespace": "gpu-usher"}
    broken = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"usher.yaml": "poools: []"}}
    with contextlib.ExitStack() as stack:
        with serving(tmp_path) as server:
            stack.enter_context(registered(cluster, server))
            with pytest.raises(ApiError, match="poools: unknown key"):
                cluster.create(broken, dry_run=True)

        cluster.create(broken, dry_run=True)
