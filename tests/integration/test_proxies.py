"""Prometheus and API servers behind a proxy, which alone knows their name."""

import contextlib
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
import yaml

from builders.existing import running
from integration import api_server, audited, command
from integration.api_server import ApiServer
from integration.proxy_server import HOST, LOOPBACK, Proxy, serving
from usher import errors
from usher.audit.prometheus import endpoint
from usher.audit.prometheus.promql_source import Client
from usher.cluster import connection
from usher.server.certs import issue
from usher.server.certs.certificates import CertificateAuthority, new_authority

pytestmark = pytest.mark.process

NOW: Final = datetime.now(UTC)
OF_SERVER: Final = new_authority(now=NOW)
OF_PROXY: Final = new_authority(now=NOW)

USER: Final = "gateway:right-word-7"
PASSWORD: Final = USER.partition(":")[2]
TOKEN: Final = "token-4711"
AUTHORIZATION: Final = f"Bearer {TOKEN}"


class Upstream(ThreadingHTTPServer):
    """Answers as a Prometheus without series, and remembers the headers of requests."""

    daemon_threads = True

    def __init__(self, *, scheme: str) -> None:
        super().__init__((LOOPBACK, 0), _Upstream)
        self.scheme = scheme
        self.asked: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        """By a name that only the proxy knows."""
        return f"{self.scheme}://{HOST}:{self.server_port}"


class _Upstream(BaseHTTPRequestHandler):
    server: Upstream

    def do_GET(self) -> None:
        self.server.asked.append(dict(self.headers.items()))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": []}}).encode())

    def log_message(self, *_: object) -> None:
        pass


def shown(directory: Path, name: str, authority: CertificateAuthority) -> ssl.SSLContext:
    """The certificate that a server of that name shows to clients; its CA is NAME.ca.crt in the folder."""
    for file, content in issue.issue(names=(name,), certificate_authority=authority, now=NOW).files.items():
        (directory / f"{name}.{file}").write_bytes(content)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / f"{name}.tls.crt", directory / f"{name}.tls.key")
    return context


@contextlib.contextmanager
def upstream(directory: Path, *, scheme: str) -> Iterator[Upstream]:
    with Upstream(scheme=scheme) as server:
        tls = shown(directory, HOST, OF_SERVER)
        if scheme == "https":
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server: Upstream, directory: Path, **environment: str) -> None:
    """Asks a Prometheus with a bearer token, as `usher audit` does."""
    environment = {"USHER_PROMETHEUS_TOKEN": TOKEN, **environment}
    found = endpoint.read_address(server.url, ca_file=directory / f"{HOST}.ca.crt", environment=environment)
    Client(found, wait=lambda _: None).get("/api/v1/query_range", {"query": "up"})


def test_by_http_the_proxy_forwards_the_query_with_its_token(tmp_path: Path) -> None:
    with upstream(tmp_path, scheme="http") as server, serving(Proxy(user=USER)) as proxy:
        ask(server, tmp_path, http_proxy=proxy.url(user=USER))

    ((method, target, headers),) = proxy.requests
    assert (method, target) == ("GET", f"{server.url}/api/v1/query_range?query=up")
    assert headers["Authorization"] == AUTHORIZATION
    assert server.asked[0]["Authorization"] == AUTHORIZATION


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_by_https_the_proxy_sees_the_name_of_the_server_alone(tmp_path: Path, variable: str) -> None:
    with upstream(tmp_path, scheme="https") as server, serving(Proxy(user=USER)) as proxy:
        ask(server, tmp_path, **{variable: proxy.url(user=USER)})

    ((method, target, headers),) = proxy.requests
    assert (method, target) == ("CONNECT", f"{HOST}:{server.server_port}")
    assert "Authorization" not in headers
    assert "Proxy-Authorization" in headers
    assert proxy.tunnelled
    assert TOKEN.encode() not in proxy.tunnelled
    assert b"query_range" not in proxy.tunnelled
    assert server.asked[0]["Authorization"] == AUTHORIZATION
    assert "Proxy-Authorization" not in server.asked[0]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_with_tls_is_trusted_by_its_own_ca(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    tls = shown(tmp_path, LOOPBACK, OF_PROXY)
    with upstream(tmp_path, scheme=scheme) as server, serving(Proxy(), tls=tls) as proxy:
        variables = {f"{scheme.upper()}_PROXY": proxy.url(scheme="https")}
        with pytest.raises(errors.PrometheusError, match="name a file with the CA of the proxy in SSL_CERT_FILE"):
            ask(server, tmp_path, **variables)
        assert not proxy.requests
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / f"{LOOPBACK}.ca.crt"))
        ask(server, tmp_path, **variables)

    assert server.asked[0]["Authorization"] == AUTHORIZATION


@pytest.mark.parametrize(
    ("scheme", "given", "said"),
    [
        ("http", Proxy(user=USER), "asks for credentials (HTTP 407); write user:password@ into its URL"),
        ("http", Proxy(refused=True), "it is not reached (HTTP 503); name it in NO_PROXY if this proxy does not know"),
        (
            "https",
            Proxy(user=USER),
            "failed: 407 Proxy Authentication Required; write user:password@ into the URL of the proxy",
        ),
        (
            "https",
            Proxy(refused=True),
            "403 Forbidden; let the proxy connect to this server, or name the server in NO_",
        ),
    ],
)
def test_a_proxy_that_refuses_is_named_without_its_password(
    tmp_path: Path, scheme: str, given: Proxy, said: str
) -> None:
    with (
        upstream(tmp_path, scheme=scheme) as server,
        serving(given) as proxy,
        pytest.raises(errors.PrometheusError) as found,
    ):
        ask(server, tmp_path, **{f"{scheme}_proxy": proxy.url(user="gateway:wrong-word-8")})

    assert said in str(found.value)
    assert f"the proxy {proxy.url()}" in str(found.value)
    assert "wrong-word-8" not in str(found.value)
    assert not server.asked


def test_a_proxy_that_speaks_no_tls_or_is_down_is_named_with_a_remedy(tmp_path: Path) -> None:
    with upstream(tmp_path, scheme="https") as server:
        with serving(Proxy()) as proxy, pytest.raises(errors.PrometheusError, match="write http:// into its URL"):
            ask(server, tmp_path, HTTPS_PROXY=proxy.url(scheme="https"))
        with pytest.raises(errors.PrometheusError, match=f"through the proxy {proxy.url()}: it cannot .*refused"):
            ask(server, tmp_path, HTTPS_PROXY=proxy.url())


def test_no_report_of_an_audit_shows_the_password_of_a_proxy(tmp_path: Path) -> None:
    dump = command.write(tmp_path / "dump.yaml", running("busy", node="gpu-0", gpus=1))
    prometheus = ("--prometheus", f"https://{HOST}", "--prometheus-token-file", tmp_path / "token")
    formats = [f"--format={name}={tmp_path / 'reports' / name}" for name in ("text", "html", "json", "markdown")]
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "reports").mkdir()

    with serving(Proxy(user="other:word")) as proxy:
        run = command.usher("audit", dump, *prometheus, *formats, env={"HTTPS_PROXY": proxy.url(user=USER)})

    assert run.code == 0, run.err
    assert f"through the proxy {proxy.url()}" in (tmp_path / "reports" / "json").read_text()
    for text in (*(file.read_text() for file in (tmp_path / "reports").iterdir()), run.out, run.err):
        assert PASSWORD not in text


@pytest.mark.parametrize("text", [f"socks5://{USER}@proxy:1080", f"http://{USER}@"])
def test_a_variable_without_a_usable_proxy_ends_the_audit_with_2(tmp_path: Path, text: str) -> None:
    dump = command.write(tmp_path / "dump.yaml", running("busy", node="gpu-0", gpus=1))

    run = command.usher("audit", dump, "--prometheus", "https://p", env={"HTTPS_PROXY": text})

    assert run.code == 2
    assert "HTTPS_PROXY: usher takes the URL of an HTTP proxy" in run.err
    assert PASSWORD not in run.err


def kubeconfig(directory: Path, url: str, **cluster: str) -> Path:
    file = api_server.kubeconfig(directory / "kubeconfig", url, token=TOKEN)
    content = yaml.safe_load(file.read_text())
    content["clusters"][0]["cluster"].update(cluster)
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.mark.parametrize("chosen_by", ["kubeconfig", "environment"])
def test_a_cluster_is_audited_through_the_same_proxy(api: ApiServer, tmp_path: Path, chosen_by: str) -> None:
    api.add(audited.gpu_pod("far"))
    behind = api.url.replace(LOOPBACK, HOST)
    with serving(Proxy(user=USER)) as proxy:
        named = {"proxy-url": proxy.url(user=USER)} if chosen_by == "kubeconfig" else {}
        # As for kubectl, NO_PROXY says nothing about the proxy of a kubeconfig.
        variables = {"NO_PROXY": "*"} if named else {"HTTP_PROXY": proxy.url(user=USER)}
        file = kubeconfig(tmp_path, behind, **named)
        run = command.usher("audit", "--kubeconfig", file, "--format", "json", env=variables)

    assert run.code == 0, run.err
    assert [each["subject"]["name"] for each in run.json["workloads"]] == ["far"]
    assert proxy.requests


def test_the_api_server_of_this_machine_is_asked_itself(api: ApiServer, tmp_path: Path) -> None:
    api.add(audited.gpu_pod("near"))
    with serving(Proxy()) as proxy:
        run = command.usher(
            "audit", "--kubeconfig", kubeconfig(tmp_path, api.url), env={"HTTP_PROXY": proxy.url(), "NO_PROXY": ""}
        )

    assert run.code == 0, run.err
    assert not proxy.requests


def test_an_api_server_with_tls_gets_its_token_through_a_tunnel(tmp_path: Path) -> None:
    with upstream(tmp_path, scheme="https") as server, serving(Proxy(user=USER)) as proxy:
        trust = {"certificate-authority": str(tmp_path / f"{HOST}.ca.crt"), "proxy-url": proxy.url(user=USER)}
        answer = connection.connect(kubeconfig=kubeconfig(tmp_path, server.url, **trust)).get("/version")

    assert answer.status == 200
    assert server.asked[0]["Authorization"] == AUTHORIZATION
    assert "Proxy-Authorization" not in server.asked[0]
    ((method, _, headers),) = proxy.requests
    assert method == "CONNECT"
    assert "Authorization" not in headers
    assert TOKEN.encode() not in proxy.tunnelled


@pytest.mark.parametrize("text", [f"http://{USER}@[::1", f"http://{USER}@{LOOPBACK}:1"])
def test_a_cluster_behind_a_wrong_proxy_is_an_error_without_its_password(tmp_path: Path, text: str) -> None:
    file = kubeconfig(tmp_path, f"https://{HOST}", **{"proxy-url": text})

    run = command.usher("audit", "--kubeconfig", file)

    assert run.code == 2
    assert "proxy" in run.err
    assert PASSWORD not in run.err
