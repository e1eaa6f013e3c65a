"""With --client-ca only a client with a certificate of the API server gets an answer."""

import contextlib
import http.client
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

import builders
import reviews
import server_process
from e2e.cluster import wait_until
from e2e.processes import LOOPBACK
from server_process import JSON, ServerProcess
from usher.server.certs.certificates import CertificateAuthority, new_authority, private_key_pem

pytestmark = pytest.mark.process

NOW = datetime.now(UTC)
AUTHORITY = new_authority(now=NOW)
OTHER = new_authority(now=NOW)


def client(
    directory: Path,
    name: str | None = "kube-apiserver",
    *,
    authority: CertificateAuthority = AUTHORITY,
    ends: timedelta = timedelta(days=1),
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.CLIENT_AUTH,
) -> Path:
    """A file with a certificate and its key, for a client."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = [] if name is None else [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(names))
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=2))
        .not_valid_after(NOW + ends)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    file = directory / f"client-{certificate.serial_number:x}.pem"
    file.write_bytes(private_key_pem(key) + certificate.public_bytes(Encoding.PEM))
    return file


def trust(file: Path, *authorities: CertificateAuthority) -> None:
    file.write_bytes(b"".join(each.certificate.public_bytes(Encoding.PEM) for each in authorities))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    trust(tmp_path / "clients.crt", AUTHORITY)
    arguments = (f"--client-ca={tmp_path / 'clients.crt'}", "--reload-interval=0.05")
    with server_process.running(tmp_path, arguments=arguments) as running:
        yield running


def answers(server: ServerProcess, certificate: Path | None) -> bool:
    """Whether the server answers a review of this client."""
    context = server.client_context()
    if certificate is not None:
        context.load_cert_chain(certificate)
    connection = http.client.HTTPSConnection(LOOPBACK, server.port, timeout=60, context=context)
    with contextlib.closing(connection):
        body = reviews.body(builders.pod(builders.container(), name="asked"))
        try:
            connection.request("POST", "/validate", body=body, headers=JSON)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def test_only_the_certificate_of_an_api_server_opens_the_port(server: ServerProcess, tmp_path: Path) -> None:
    assert answers(server, client(tmp_path))

    refused = {
        "no certificate": None,
        "another CA": client(tmp_path, authority=OTHER),
        "another name": client(tmp_path, "system:node:gpu-0"),
        "a name that begins alike": client(tmp_path, "kube-apiserver-kubelet-client"),
        "no name": client(tmp_path, None),
        "expired": client(tmp_path, ends=timedelta(hours=-1)),
        "for servers": client(tmp_path, usage=ExtendedKeyUsageOID.SERVER_AUTH),
    }
    assert [why for why, certificate in refused.items() if answers(server, certificate)] == []
    assert answers(server, client(tmp_path)), "refusals harm no other client"
    assert server.admin("/readyz").status == 200, "probes have no certificate"
    (line,) = server.log("client_refused")
    assert line["client"] == "system:node:gpu-0"


def test_the_ca_of_clients_is_loaded_again(server: ServerProcess, tmp_path: Path) -> None:
    file, old, new = tmp_path / "clients.crt", client(tmp_path), client(tmp_path, authority=OTHER)
    assert answers(server, old)

    file.write_text("no certificate")
    wait_until(lambda: server.log("certificate_problem"), description="the problem is logged")
    assert answers(server, old), "the CA before is still in use"

    trust(file, OTHER)
    wait_until(lambda: answers(server, new), description="the new CA is in use")
    assert not answers(server, old)


def test_a_site_may_name_other_clients(tmp_path: Path) -> None:
    trust(tmp_path / "clients.crt", AUTHORITY)
    names = ("--client-name=front", "--client-name=kube-apiserver")
    arguments = (f"--client-ca={tmp_path / 'clients.crt'}", *names)
    with server_process.running(tmp_path, arguments=arguments) as server:
        assert answers(server, client(tmp_path, "front"))
        assert answers(server, client(tmp_path))
        assert not answers(server, client(tmp_path, "back"))


def test_a_certificate_without_the_names_that_it_must_have_is_not_served(tmp_path: Path) -> None:
    with (
        pytest.raises(Exception, match=r"the certificate is not for other\.example"),
        server_process.running(tmp_path, arguments=("--certificate-name=other.example",)),
    ):
        pass
