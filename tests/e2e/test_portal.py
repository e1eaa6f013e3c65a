"""The portal of a running server: who may ask, and the same answers as from the commands and the webhooks."""

import concurrent.futures
import contextlib
import http.client
import json
import signal
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
import forked_server
from e2e import accounts, ports, processes, quota_site
from e2e.cluster import Cluster, Object, wait_until
from integration import command

PORTAL = accounts.MANIFESTS / "portal" / "role.yaml"
CLASS = "gpu-usher-portal-user"
RBAC = "rbac.authorization.k8s.io/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Portal:
    port: int
    ca: str
    tls: ssl.SSLContext

    def ask(self, method: str, path: str, *, token: str = "", body: Object | bytes = b"") -> Answer:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPSConnection(processes.LOOPBACK, self.port, timeout=30, context=self.tls)
        with contextlib.closing(connection):
            connection.request(method, f"/api/v1/{path}", body=sent, headers=headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        value = json.loads(text) if answer.headers.get_content_type() == "application/json" else text
        return Answer(status=answer.status, headers=answer.headers, value=value)


@pytest.fixture(scope="module")
def portal(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    directory = tmp_path_factory.mktemp("usher")
    with quota_site.account(cluster) as kubeconfig:
        names = ("--name", processes.LOOPBACK, "--name", "gpu-usher.gpu-usher.svc")
        applied = accounts.granted(cluster, "base/metrics-role.yaml", "portal/role.yaml")
        command.usher("certs", "issue", "--dir", directory, *names)
        tls = ssl.create_default_context(cafile=directory / "ca.crt")
        port, admin_port = ports.free(2)
        server = processes.start(
            "usher",
            [
                *(*forked_server.command_line(command.environment()), "serve"),
                *("--portal", "--live", f"--kubeconfig={kubeconfig}"),
                *(f"--certificate={directory / 'tls.crt'}", f"--key={directory / 'tls.key'}"),
                *(f"--host={processes.LOOPBACK}", f"--port={port}", f"--admin-port={admin_port}"),
            ],
            health=f"https://{processes.LOOPBACK}:{admin_port}/readyz",
            log=directory / "usher.log",
            env=command.environment(),
        )
        try:
            processes.wait_until_ready([server], tls=tls)
            yield Portal(port=admin_port, ca=(directory / "ca.crt").read_text(), tls=tls)
        finally:
            server.process.send_signal(signal.SIGINT)
            processes.stop(server.process)
            for each in reversed(applied):
                cluster.delete(each["kind"], each["metadata"]["name"], api_version=each["apiVersion"])


def token_of(cluster: Cluster, namespace: str, name: str) -> str:
    cluster.kubectl("create", "serviceaccount", name, f"--namespace={namespace}")
    return cluster.kubectl("create", "token", name, f"--namespace={namespace}").strip()


@pytest.fixture
def asker(cluster: Cluster, namespace: str) -> str:
    """The token of an account that may ask about its namespace."""
    token = token_of(cluster, namespace, "asker")
    cluster.kubectl(
        *("create", "rolebinding", "asker", f"--clusterrole={CLASS}", f"--serviceaccount={namespace}:asker"),
        f"--namespace={namespace}",
    )
    return token


def greedy(namespace: str) -> Object:
    container = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    return builders.job(builders.template(container, restartPolicy="Never"), name="greedy", namespace=namespace)


def test_an_evaluation_is_what_usher_check_says(portal: Portal, asker: str, namespace: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(greedy(namespace)))

    answer = portal.ask("POST", "evaluate", token=asker, body=file.read_bytes())
    checked = json.loads(command.usher("check", file, "--format", "json").out)

    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    (mine,), (theirs,) = answer.value["workloads"], checked["workloads"]
    assert [each["code"] for each in mine["findings"]] == [each["code"] for each in theirs["findings"]]
    assert "USH201" in {each["code"] for each in mine["findings"]}
    assert answer.value.keys() == checked.keys()


def test_an_outlook_says_when_a_job_could_start(portal: Portal, asker: str, namespace: str) -> None:
    job = builders.job(builders.template(builders.container(gpus=8), restartPolicy="Never"), namespace=namespace)

    answer = portal.ask("POST", "queue", token=asker, body=job)

    assert answer.status == 200
    (workload,) = answer.value["workloads"]
    assert workload["kind"] == "Job"
    assert workload["answer"] in {"never", "unknown", "not now", "could", "fits now"}


def test_every_user_of_the_cluster_may_read_the_page_of_a_check(
    portal: Portal, cluster: Cluster, namespace: str
) -> None:
    token = token_of(cluster, namespace, "reader")

    page = portal.ask("GET", "explain/USH201", token=token)
    assert (page.status, page.value["name"]) == (200, "visible-devices-set-by-hand")
    assert portal.ask("GET", "explain/visible-devices-set-by-hand", token=token).value == page.value
    assert portal.ask("GET", "explain/USH9999", token=token).status == 404


def test_a_quota_shows_its_use(portal: Portal, cluster: Cluster, namespace: str) -> None:
    token = token_of(cluster, namespace, "owner")
    cluster.kubectl(
        *("create", "clusterrolebinding", f"owner-{namespace}", f"--clusterrole={CLASS}"),
        f"--serviceaccount={namespace}:owner",
    )
    try:
        with quota_site.quota(cluster, namespace, {"hard": {"gpus": 8}}) as quota:
            found = wait_until(
                lambda: one if (one := portal.ask("GET", f"quotas/{quota}", token=token)).status == 200 else None,
                description="the server knows the quota",
            )
            found = wait_until(
                lambda: None if (one := portal.ask("GET", f"quotas/{quota}", token=token)).value["problems"] else one,
                description="the quota is counted",
            )
            every = portal.ask("GET", "quotas", token=token)
            assert portal.ask("GET", "quotas/absent", token=token).status == 404
    finally:
        cluster.delete("ClusterRoleBinding", f"owner-{namespace}", api_version=RBAC)

    assert found.value["limits"] == [{"priorityClasses": [], "hard": {"gpus": 8}, "used": {"gpus": 0}}]
    assert found.value in every.value


def test_a_namespace_stays_unknown_to_those_without_a_right_in_it(
    portal: Portal, cluster: Cluster, asker: str, namespace: str
) -> None:
    stranger = token_of(cluster, namespace, "stranger")

    assert portal.ask("POST", "evaluate", body=greedy(namespace)).status == 401
    assert portal.ask("POST", "evaluate", token="wrong", body=greedy(namespace)).status == 401
    refused = portal.ask("POST", "evaluate", token=stranger, body=greedy(namespace))
    assert refused.status == 403
    assert CLASS in refused.value["detail"]
    assert portal.ask("POST", "queue", token=asker, body=greedy("default")).status == 403
    assert portal.ask("GET", "quotas", token=asker).status == 403
    both: Object = {"apiVersion": "v1", "kind": "List", "items": [greedy(namespace), greedy("kube-system")]}
    assert portal.ask("POST", "evaluate", token=asker, body=both).status == 403


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"", 400, "no Kubernetes object"),
        (b"kind: Pod\nkind: Pod\n", 400, "<stdin>"),
        (b"[" * 5000, 400, "<stdin>"),
        (b"a: &a [x]\n" + b"".join(b"b%d: [*a,*a]\n" % n for n in range(10)), 400, "no Kubernetes object"),
        (b"x" * ((1 << 20) + 1), 413, "more than 1048576 bytes"),
        (b"---\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\n" * 51, 400, "51 objects"),
    ],
    ids=["empty", "a key twice", "deep nesting", "aliases", "too large", "too many objects"],
)
def test_a_bad_body_is_refused_with_its_reason(
    portal: Portal, asker: str, body: bytes, status: int, reason: str
) -> None:
    answer = portal.ask("POST", "evaluate", token=asker, body=body)

    assert (answer.status, reason in answer.value["detail"]) == (status, True), answer.value


def test_many_strangers_at_once_are_refused_and_an_asker_is_answered(
    portal: Portal, asker: str, namespace: str
) -> None:
    def stranger(number: int) -> int:
        return portal.ask("POST", "evaluate", token=f"wrong-{number}", body=b"x" * 100_000).status

    with concurrent.futures.ThreadPoolExecutor(50) as threads:
        statuses = list(threads.map(stranger, range(200)))

    assert set(statuses) <= {401, 503}
    wait_until(
        lambda: portal.ask("POST", "evaluate", token=asker, body=greedy(namespace)).status == 200,
        description="the asker is answered",
    )


def asked(portal: Portal, directory: Path, token: str, *arguments: str | Path) -> command.Run:
    """`kubectl usher` for the owner of a token. The nodes of the test have no kubelet, so no tunnel leads to a pod."""
    file = directory / "kubeconfig"
    context = {"cluster": "c", "user": "u"}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": context}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": token} if token else {"username": "x", "password": "y"}}],
    }
    file.write_text(json.dumps(content))
    (directory / "ca.crt").write_text(portal.ca)
    where = ("--url", f"https://{processes.LOOPBACK}:{portal.port}", "--ca-file", directory / "ca.crt")
    return command.usher("portal", arguments[0], *where, "--kubeconfig", file, *arguments[1:])


def test_kubectl_usher_shows_decisions_and_reasons(portal: Portal, asker: str, namespace: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(greedy(namespace)))

    shown = asked(portal, tmp_path, asker, "evaluate", "-f", file)
    assert shown.code == 1, shown.err
    assert f"Job {namespace}/greedy: deny" in shown.out
    assert "deny  USH201 visible-devices-set-by-hand: " in shown.out
    assert asked(portal, tmp_path, asker, "queue", "-f", file).code == 0
    assert "No container names its devices" in asked(portal, tmp_path, asker, "explain", "USH201").out
    assert json.loads(asked(portal, tmp_path, asker, "explain", "USH201", "--format", "json").out)["code"] == "USH201"


def test_kubectl_usher_goes_through_a_tunnel_of_kubectl_and_ends_it(
    portal: Portal, asker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tunnel itself is kubectl's; a program of its name says where it begins."""
    programs = tmp_path / "bin"
    programs.mkdir()
    kubectl = programs / "kubectl"
    kubectl.write_text(
        f'#!/bin/sh\necho "$@" >{tmp_path}/arguments\necho $$ >{tmp_path}/process\n'
        f'echo "Forwarding from 127.0.0.1:{portal.port} -> 8080"\nexec sleep 60\n'
    )
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    through = asked(portal, tmp_path, asker, "explain", "USH201", "--url", "")

    assert through.code == 0, through.err
    assert "visible-devices-set-by-hand" in through.out
    assert "port-forward --namespace=gpu-usher" in (tmp_path / "arguments").read_text()
    assert not Path(f"/proc/{(tmp_path / 'process').read_text().strip()}").exists()
    kubectl.write_text('#!/bin/sh\necho "error: pods is forbidden" >&2\nexit 1\n')
    refused = asked(portal, tmp_path, asker, "explain", "USH201", "--url", "")
    assert "kubectl port-forward does not reach the server: error: pods is forbidden" in refused.err


def test_kubectl_usher_says_why_it_has_no_answer(portal: Portal, asker: str, tmp_path: Path) -> None:
    refused = asked(portal, tmp_path, asker, "quota")
    assert (refused.code, refused.out) == (2, "")
    assert "the portal answers 403" in refused.err
    assert CLASS in refused.err

    other = asked(portal, tmp_path, asker, "quota", "--url", "http://127.0.0.1")
    assert "must not go over plain HTTP" in other.err
    away = asked(portal, tmp_path, asker, "quota", "--url", f"https://{processes.LOOPBACK}:1")
    assert "does the server run with --portal?" in away.err


def test_the_interface_is_described_to_users_of_the_cluster_alone(portal: Portal, asker: str) -> None:
    assert portal.ask("GET", "openapi.json").status == 401
    assert portal.ask("GET", "openapi.json", token="wrong").status == 401
    described = portal.ask("GET", "openapi.json", token=asker)

    assert described.status == 200
    assert {"/api/v1/evaluate", "/api/v1/queue", "/api/v1/explain/{code}", "/api/v1/quotas"} <= described.value[
        "paths"
    ].keys()
    assert "Report" in str(described.value["paths"]["/api/v1/evaluate"]["post"]["responses"]["200"])


def test_without_a_cluster_it_does_not_start() -> None:
    refused = command.usher("serve", "--portal", "--no-live", "--certificate", __file__, "--key", __file__)

    assert refused.code == 2
    assert "--portal needs a cluster" in refused.err
