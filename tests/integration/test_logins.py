"""Users read what to do when the API server takes no credentials of their kubeconfig."""

import json
import textwrap
from pathlib import Path

import pytest
import yaml
from kubernetes.config import kube_config

from integration import api_server, command
from integration.api_server import ApiServer, Response, status
from integration.audited import connected
from usher import errors, paths
from usher.check import cluster_objects
from usher.cluster import connection


def _kubeconfig(folder: Path, url: str, user: paths.Object, *, name: str = "sso", of_context: str = "sso") -> Path:
    file = api_server.kubeconfig(folder / "kubeconfig", url)
    content = yaml.safe_load(file.read_text())
    content["contexts"][0]["context"]["user"] = of_context
    content["users"] = [{"name": name, "user": user}]
    file.write_text(yaml.safe_dump(content))
    return file


def _plugin(folder: Path, script: str) -> paths.Object:
    """A user whose credentials a program gives."""
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{textwrap.dedent(script)}\n")
    program.chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(program)}}


def _credential(**values: str) -> str:
    value = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": values}
    return f"echo '{json.dumps(value)}'"


@pytest.mark.parametrize(
    "given",
    [
        ("audit",),
        ("preflight",),
        ("snapshot", "--output", "cluster.json.gz"),
        ("queue", "--facts", "live", command.BAD_EXAMPLE),
        ("check", "--facts", "live", command.BAD_EXAMPLE),
        ("config", "check", "usher.yaml", "--facts", "live"),
    ],
    ids=lambda given: given[0],
)
def test_each_command_says_that_a_credential_plugin_is_missing(
    api: ApiServer, tmp_path: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    user: paths.Object = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "nosuch-plugin"}}
    file = _kubeconfig(tmp_path, api.url, user)
    command.config(tmp_path / "usher.yaml")
    # What $KUBECONFIG says; the library reads the variable when it is imported.
    monkeypatch.setattr(kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(file))

    run = command.usher(*given, cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"usher: {file}: user sso of context test: the credential plugin nosuch-plugin is not found; install it, or "
        "add its folder to PATH\n"
    )
    assert api.requests == []


def test_a_missing_plugin_is_installed_as_the_kubeconfig_says(tmp_path: Path) -> None:
    plugin: paths.Object = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "nosuch-auth-plugin",
        "installHint": "Install nosuch-auth-plugin: https://example.com",
    }
    file = _kubeconfig(tmp_path, "https://127.0.0.1:1", {"exec": plugin})

    run = command.usher("audit", "--kubeconfig", file)

    assert run.err.endswith("is not found; Install nosuch-auth-plugin: https://example.com\n")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo 'The SSO session has expired or is invalid' >&2; exit 1",
            "failed: process returned 1. The SSO session has expired or is invalid",
        ),
        ("echo hello", "failed: failed to decode process output: Expecting value: line 1 column 1 (char 0)"),
        (_credential(), "gives neither a token nor a certificate with its key"),
        (_credential(clientCertificateData="x"), "gives neither a token nor a certificate with its key"),
    ],
    ids=["it ends with 1", "no JSON", "no credentials", "no key"],
)
def test_a_plugin_that_fails_has_its_words_repeated_and_the_cluster_is_not_asked(
    api: ApiServer, tmp_path: Path, script: str, said: str
) -> None:
    file = _kubeconfig(tmp_path, api.url, _plugin(tmp_path, script))

    run = command.usher("audit", "--kubeconfig", file)

    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"usher: {file}: user sso of context test: the credential plugin {tmp_path}/plugin {said}; log in again, and "
        "see that `kubectl auth whoami` works\n"
    )
    assert api.requests == []


def test_the_token_of_a_plugin_is_sent(api: ApiServer, tmp_path: Path) -> None:
    file = _kubeconfig(tmp_path, api.url, _plugin(tmp_path, _credential(token="fresh")))

    connection.connect(kubeconfig=file).get("/api/v1")

    assert [headers["authorization"] for headers in api.headers] == ["Bearer fresh"]


def test_a_plugin_that_fails_when_its_token_has_expired_ends_the_next_request(api: ApiServer, tmp_path: Path) -> None:
    once = f"""
        test -e {tmp_path}/asked && {{ echo 'session expired' >&2; exit 1; }}
        touch {tmp_path}/asked
        {_credential(token="short", expirationTimestamp="2020-01-01T00:00:00Z")}
    """
    file = _kubeconfig(tmp_path, api.url, _plugin(tmp_path, once))
    server = connection.connect(kubeconfig=file)

    with pytest.raises(errors.ClusterError, match=r"failed: process returned 1\. session expired; log in again"):
        server.get("/api/v1")


def test_a_context_with_an_unknown_user_is_refused(api: ApiServer, tmp_path: Path) -> None:
    file = _kubeconfig(tmp_path, api.url, {"token": "secret"}, of_context="somebody")

    run = command.usher("audit", "--kubeconfig", file)

    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"usher: {file}: user somebody of context test: the kubeconfig does not have this user; write one of "
        "`kubectl config get-users` into the context\n"
    )
    assert api.requests == []


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ({"name": "azure", "config": {}}, "gives no token that usher can use"),
        ({"name": "oidc", "config": {"id-token": "no+jwt"}}, "gives no token that usher can use"),
        ({"name": "oidc", "config": {"issuer": "x"}}, "gives no token: Invalid kube-config file."),
    ],
    ids=["a provider of the past", "no token", "half a configuration"],
)
def test_an_auth_provider_without_a_token_is_named(
    api: ApiServer, tmp_path: Path, provider: paths.Object, said: str
) -> None:
    file = _kubeconfig(tmp_path, api.url, {"auth-provider": provider})

    run = command.usher("audit", "--kubeconfig", file)

    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"usher: {file}: user sso of context test: its auth-provider {said}")
    assert api.requests == []


def test_a_user_without_credentials_is_anonymous_as_for_kubectl(api: ApiServer, tmp_path: Path) -> None:
    """`kubectl proxy` adds the credentials, so the kubeconfig needs none."""
    file = _kubeconfig(tmp_path, api.url, {})

    connection.connect(kubeconfig=file).get("/api/v1")

    assert ["authorization" in headers for headers in api.headers] == [False]


def test_an_api_server_that_takes_usher_for_anonymous_asks_for_a_login(api: ApiServer) -> None:
    refusal = (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope'
    )
    api.troubles.append(lambda path, _: status(403, refusal) if path == "/api/v1/pods" else None)
    api.serve_kind("v1", "pods")

    with pytest.raises(errors.ClusterError) as raised:
        list(cluster_objects.read(connected(api)))

    assert str(raised.value) == (
        f"the test cluster: it does not know you: {refusal}; usher sent no credentials that it takes: log in again, "
        "and see that `kubectl auth whoami` works"
    )


def test_an_api_server_that_refuses_discovery_to_anonymous_users_asks_for_a_login(api: ApiServer) -> None:
    api.troubles.append(lambda path, _: status(403, f'forbidden: User "system:anonymous" cannot get path "{path}"'))

    with pytest.raises(errors.ClusterError, match=r"it does not know you: forbidden: User .*: log in again"):
        list(cluster_objects.read(connected(api)))


def test_an_api_server_that_lets_a_user_list_nothing_names_the_role_that_is_missing(api: ApiServer) -> None:
    refusal = 'pods is forbidden: User "ci" cannot list resource "pods" in API group "" at the cluster scope'
    api.troubles.append(lambda path, _: status(403, refusal) if path == "/api/v1/pods" else None)
    api.serve_kind("v1", "pods")

    with pytest.raises(errors.ClusterError) as raised:
        list(cluster_objects.read(connected(api)))

    assert str(raised.value) == (
        f"the test cluster: usher may list no kind of workload: {refusal}; bind the ClusterRole of "
        "`usher manifests audit-role` to this user"
    )


def test_a_server_whose_answers_are_failures_is_not_said_to_lack_rights(api: ApiServer) -> None:
    api.troubles.append(lambda _path, _: Response(status=500, value=b"<html>gateway</html>"))

    with pytest.raises(errors.ClusterError) as raised:
        list(cluster_objects.read(connected(api)))

    assert str(raised.value) == (
        "the test cluster: no kind of workload can be listed: HTTP 500: HTTP status 500; see that `kubectl get pods` "
        "works"
    )


def test_a_server_that_serves_nothing_of_kubernetes_is_not_taken_for_an_api_server(api: ApiServer) -> None:
    api.troubles.append(lambda _path, _: status(404, "not found"))

    with pytest.raises(errors.ClusterError, match="serves no kind of workload that usher knows; is that an API server"):
        list(cluster_objects.read(connected(api)))


def test_plain_http_at_a_port_with_tls_is_named(api: ApiServer, kubeconfig: Path) -> None:
    answer = Response(status=400, value=b"Client sent an HTTP request to an HTTPS server.\n")
    api.troubles.append(lambda _path, _: answer)

    run = command.usher("audit", "--kubeconfig", kubeconfig)

    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"usher: cluster of context test ({api.url}): this port speaks TLS; write https:// into the `server` of the "
        "cluster in the kubeconfig\n"
    )
