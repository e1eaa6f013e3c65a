"""`usher audit --prometheus` with a real Prometheus behind TLS, passwords, tokens, tenants and client certificates."""

import json
import re
import shutil
import ssl
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives import serialization

import builders
from builders.existing import existing, running
from e2e import ports, processes
from integration import command
from integration.api_server import served
from integration.test_client_certificates import client as client_certificate
from usher.server.certs import issue
from usher.server.certs.certificates import CertificateAuthority, new_authority

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        shutil.which("prometheus") is None, reason="Prometheus is not installed (Debian: apt-get install prometheus)"
    ),
]

NOW: Final = datetime.now(UTC)
LONG_AGO: Final = NOW - timedelta(days=400)
AUTHORITY: Final = new_authority(now=NOW)
OLD: Final = new_authority(now=LONG_AGO, lifetime=timedelta(days=4000))

USER, PASSWORD, WRONG = "auditor", "right-word-7", "wrong-word-8"
HASH: Final = "$2b$04$abcdefghijklmnopqrstuuK.oVmf4qv2z4LWfRvPGRYU2hFZTwNB2"
"""The hash of the password, by bcrypt."""
TOKEN, KEY = "token-4711", "key-0815"


@dataclass(frozen=True)
class Secured:
    """A Prometheus with TLS, which reads its web configuration again for each connection."""

    directory: Path
    port: int

    @property
    def ca(self) -> Path:
        return self.directory / "ca.crt"

    def url(self, *, host: str = "localhost", scheme: str = "https", user: str = "") -> str:
        return f"{scheme}://{user}{host}:{self.port}"

    def secure(
        self,
        *,
        authority: CertificateAuthority = AUTHORITY,
        issued: datetime = NOW,
        name: str = "localhost",
        users: dict[str, str] | None = None,
        clients: bool = False,
    ) -> None:
        """Writes the certificate of the server, and whom it lets in."""
        found = issue.issue(names=(name,), certificate_authority=authority, now=issued)
        for file, content in found.files.items():
            (self.directory / file).write_bytes(content)
        tls = {"cert_file": "tls.crt", "key_file": "tls.key"}
        if clients:
            (self.directory / "clients.crt").write_bytes(issue_ca(AUTHORITY))
            tls |= {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "clients.crt"}
        # JSON is YAML.
        (self.directory / "web.yml").write_text(json.dumps({"tls_server_config": tls, "basic_auth_users": users or {}}))


def issue_ca(authority: CertificateAuthority) -> bytes:
    return issue.issue(names=("x",), certificate_authority=authority, now=NOW).files["ca.crt"]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("prometheus")
    (port,) = ports.free(1)
    found = Secured(directory, port)
    found.secure()
    (directory / "prometheus.yaml").write_text("{}")
    server = processes.start(
        "prometheus",
        [
            *("prometheus", f"--config.file={directory / 'prometheus.yaml'}"),
            *(f"--storage.tsdb.path={directory / 'data'}", f"--web.config.file={directory / 'web.yml'}"),
            f"--web.listen-address={processes.LOOPBACK}:{port}",
        ],
        health=f"{found.url()}/-/ready",
        log=directory / "prometheus.log",
        env={},
    )
    try:
        processes.wait_until_ready([server], tls=ssl.create_default_context(cafile=str(found.ca)))
        yield found
    finally:
        processes.stop(server.process)


@pytest.fixture
def prometheus(started: Secured) -> Secured:
    started.secure()
    return started


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    node = existing(builders.node("gpu-0", gpus=2), uid="gpu-0")
    return command.write(tmp_path_factory.mktemp("dump") / "dump.yaml", node, running("busy", node="gpu-0", gpus=1))


def audited(dump: Path, url: str, *options: str | Path, env: dict[str, str] | None = None) -> str:
    """The report about the measurement: an audit ends with 0 and reports what pods hold even if Prometheus fails."""
    window = ("--window", "1h", "--step", "1h", "--format", "json")
    run = command.usher("audit", dump, "--prometheus", url, *window, *options, env=env)
    assert run.code == 0, run.err
    for secret in (PASSWORD, WRONG, TOKEN, KEY):
        assert secret not in run.out + run.err
    assert run.json["summary"]["gpusAllocated"] == 1
    assert run.json["measurement"]["url"] == re.sub("//.*@", "//", url)
    return " ".join(run.json["measurement"]["problems"])


ANSWERS: Final = "Prometheus has no usable series"
"""Said of a Prometheus that answers and has no samples."""


def test_with_its_ca_and_a_password_prometheus_answers(prometheus: Secured, dump: Path) -> None:
    prometheus.secure(users={USER: HASH})

    said = audited(dump, prometheus.url(user=f"{USER}:{PASSWORD}@"), "--prometheus-ca", prometheus.ca)

    assert ANSWERS in said


Case = Callable[[Secured, Path], tuple[str, list[str | Path]]]


def _other_ca(prometheus: Secured, directory: Path) -> tuple[str, list[str | Path]]:
    (directory / "other.crt").write_bytes(issue_ca(new_authority(now=NOW)))
    return prometheus.url(), ["--prometheus-ca", directory / "other.crt"]


def _no_ca(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    return prometheus.url(), []


def _expired(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    prometheus.secure(authority=OLD, issued=LONG_AGO)
    return prometheus.url(), ["--prometheus-ca", prometheus.ca]


def _other_name(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    prometheus.secure(name="prometheus.example.com")
    return prometheus.url(), ["--prometheus-ca", prometheus.ca]


def _other_address(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    return prometheus.url(host=processes.LOOPBACK), ["--prometheus-ca", prometheus.ca]


def _wrong_password(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    prometheus.secure(users={USER: HASH})
    return prometheus.url(user=f"{USER}:{WRONG}@"), ["--prometheus-ca", prometheus.ca]


def _without_tls(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    return prometheus.url(scheme="http"), []


def _no_client_certificate(prometheus: Secured, _: Path) -> tuple[str, list[str | Path]]:
    prometheus.secure(clients=True)
    return prometheus.url(), ["--prometheus-ca", prometheus.ca]


def _client_certificate_of_others(prometheus: Secured, directory: Path) -> tuple[str, list[str | Path]]:
    prometheus.secure(clients=True)
    pair = client_certificate(directory, authority=OLD)
    return prometheus.url(), ["--prometheus-ca", prometheus.ca, "--prometheus-cert", pair]


@pytest.mark.parametrize(
    ("case", "messages"),
    [
        (_other_ca, ("certificate verify failed", "give its CA with --prometheus-ca FILE")),
        (_no_ca, ("certificate verify failed", "give its CA with --prometheus-ca FILE")),
        (_expired, ("certificate has expired", "renew the certificate of the server")),
        (_other_name, ("Hostname mismatch", "write a host name of the certificate into the URL")),
        (_other_address, ("IP address mismatch", "write a host name of the certificate into the URL")),
        (_wrong_password, ("does not accept the credentials (HTTP 401)", "user:password@ into the URL")),
        (_without_tls, ("is not that of Prometheus", "this port speaks TLS: write https:// into the URL")),
        (_no_client_certificate, ("certificate", "give a client certificate that the server accepts")),
        (_client_certificate_of_others, ("bad certificate", "give a client certificate that the server accepts")),
    ],
)
def test_the_report_names_the_fault_and_its_remedy(
    prometheus: Secured, dump: Path, tmp_path: Path, case: Case, messages: tuple[str, str]
) -> None:
    url, options = case(prometheus, tmp_path)

    said = audited(dump, url, *options)

    for message in messages:
        assert message in said
    assert ANSWERS not in said


def test_a_client_certificate_opens_prometheus(prometheus: Secured, dump: Path, tmp_path: Path) -> None:
    prometheus.secure(clients=True)
    pair = client_certificate(tmp_path, authority=AUTHORITY).read_text()
    begin = pair.index("-----BEGIN CERTIFICATE")
    key, certificate = tmp_path / "client.key", tmp_path / "client.crt"
    key.write_text(pair[:begin])
    certificate.write_text(pair[begin:])

    files = ("--prometheus-cert", certificate, "--prometheus-key", key)

    assert ANSWERS in audited(dump, prometheus.url(), "--prometheus-ca", prometheus.ca, *files)


def test_a_mounted_secret_has_all_that_a_pod_needs(prometheus: Secured, dump: Path, tmp_path: Path) -> None:
    prometheus.secure(clients=True)
    shutil.copy(prometheus.ca, tmp_path / "ca.crt")
    shutil.copy(client_certificate(tmp_path, authority=AUTHORITY), tmp_path / "tls.crt")
    shutil.copy(tmp_path / "tls.crt", tmp_path / "tls.key")
    (tmp_path / "token").write_text(TOKEN)

    assert ANSWERS in audited(dump, prometheus.url(), "--prometheus-secret", tmp_path)


class Gateway(BaseHTTPRequestHandler):
    """Lets a token, a tenant and a key through to Prometheus, as Mimir and API gateways do."""

    upstream: Secured

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}" or self.headers.get("X-Api-Key") != KEY:
            self._answer(401, b"Unauthorized")
        elif self.headers.get("X-Scope-OrgID") != "team-a":
            self._answer(401, b"no org id\n")
        else:
            context = ssl.create_default_context(cafile=str(self.upstream.ca))
            with urllib.request.urlopen(f"{self.upstream.url()}{self.path}", context=context, timeout=60) as answer:
                self._answer(answer.status, answer.read())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        pass


@pytest.fixture
def gateway(prometheus: Secured) -> Iterator[str]:
    class Here(Gateway):
        upstream = prometheus

    with served(Here) as url:
        yield url


def test_a_token_a_tenant_and_a_key_are_sent_with_each_query(gateway: str, dump: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    tenant = ("--prometheus-header", "X-Scope-OrgID=team-a")
    key = {"USHER_PROMETHEUS_HEADERS": f"X-Api-Key={KEY}\n"}

    assert ANSWERS in audited(dump, gateway, "--prometheus-token-file", token, *tenant, env=key)
    assert ANSWERS in audited(dump, gateway, *tenant, env={**key, "USHER_PROMETHEUS_TOKEN": TOKEN})


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"USHER_PROMETHEUS_TOKEN": WRONG}, "see --prometheus-token-file and --prometheus-header"),
        (
            {"USHER_PROMETHEUS_TOKEN": TOKEN, "USHER_PROMETHEUS_HEADERS": f"x-api-key={KEY}"},
            "name the tenant with --prometheus-header X-Scope-OrgID=TENANT",
        ),
    ],
    ids=["wrong token", "no tenant"],
)
def test_a_gateway_that_refuses_is_a_problem_with_a_remedy(
    gateway: str, dump: Path, env: dict[str, str], said: str
) -> None:
    assert said in audited(dump, gateway, env=env)


@pytest.mark.parametrize("secret", ["a password of the URL", "a header"])
def test_no_format_shows_a_secret(dump: Path, tmp_path: Path, secret: str) -> None:
    (port,) = ports.free(1)
    user = f"{USER}:{PASSWORD}@" if secret.startswith("a password") else ""
    url = f"http://{user}{processes.LOOPBACK}:{port}"
    formats: list[Any] = []
    for name in ("text", "html", "json", "yaml", "markdown", "prometheus"):
        formats += ["--format", f"{name}={tmp_path / name}"]

    run = command.usher(
        "audit", dump, "--prometheus", url, *formats, env={"USHER_PROMETHEUS_HEADERS": f"X-Api-Key={KEY}"}
    )

    assert run.code == 0, run.err
    written = [file.read_text() for file in tmp_path.iterdir()]
    assert len(written) == 6
    for text in (*written, run.out, run.err):
        assert PASSWORD not in text
        assert KEY not in text


def test_the_text_says_why_nothing_was_measured(dump: Path) -> None:
    (port,) = ports.free(1)

    run = command.usher("audit", dump, "--prometheus", f"http://{processes.LOOPBACK}:{port}")

    assert run.code == 0, run.err
    said = " ".join(run.out.split())
    assert "idle not measured, for the reasons below" in said
    assert f"measurement DCGM_FI_PROF_GR_ENGINE_ACTIVE is missing: Prometheus at http://{processes.LOOPBACK}" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prometheus-header", f"X-Api-Key={KEY}\r\nHost: elsewhere"], "the value of X-Api-Key has to be"),
        (["--prometheus-cert", "missing.pem"], "missing.pem: the client certificate and its key cannot be used"),
        (["--prometheus-header", f"Authorization={KEY}"], "Authorization is given beside a token or a user"),
    ],
)
def test_options_that_cannot_be_used_end_the_audit_with_2(dump: Path, options: list[str], message: str) -> None:
    run = command.usher("audit", dump, "--prometheus", "http://p", *options, env={"USHER_PROMETHEUS_TOKEN": TOKEN})

    assert run.code == 2
    assert message in run.err
    assert KEY not in run.err


def test_a_folder_without_files_of_a_secret_is_refused(dump: Path, tmp_path: Path) -> None:
    given = ("audit", dump, "--prometheus", "https://p", "--prometheus-secret", tmp_path)

    assert "mount a Secret with these keys" in command.usher(*given).err
    (tmp_path / "tls.key").write_text(KEY)
    assert "add tls.crt to the Secret" in command.usher(*given).err
    assert command.usher(*given).code == 2


def test_a_key_with_a_password_is_refused_instead_of_asked_for(dump: Path, tmp_path: Path) -> None:
    pair = client_certificate(tmp_path, authority=AUTHORITY).read_text()
    key = serialization.load_pem_private_key(pair.encode(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"locked"),
    )
    file = tmp_path / "locked.pem"
    file.write_bytes(locked + pair[pair.index("-----BEGIN CERTIFICATE") :].encode())

    run = command.usher("audit", dump, "--prometheus", "https://p", "--prometheus-cert", file)

    assert run.code == 2
    assert "the key has a password; give a key without one" in run.err
