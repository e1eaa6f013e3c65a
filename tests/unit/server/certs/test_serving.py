"""The server shows a certificate to clients, and refuses to serve some files."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa, x25519

from unit.server.certs.directories import authority_of_others, renewed, written
from unit.server.certs.handshakes import client_context, connected, listening, serial_seen
from usher.errors import CertificateError
from usher.server.certs.certificates import private_key_pem
from usher.server.certs.serving import Reloader

NOW = datetime(2026, 9, 29, 10, 0, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "certs"


def context_of(directory: Path, *, now: datetime | None = None) -> ssl.SSLContext:
    return Reloader(directory / "tls.crt", directory / "tls.key", clock=lambda: now or datetime.now(UTC)).context


async def test_the_server_speaks_http_1_1_over_tls_1_3(directory: Path) -> None:
    issued = written(directory)
    async with (
        listening(context_of(directory)) as port,
        connected(port, client_context(issued.authority.certificate), name="localhost") as (_, writer),
    ):
        connection = writer.get_extra_info("ssl_object")
        assert (connection.version(), connection.selected_alpn_protocol()) == ("TLSv1.3", "http/1.1")


async def test_tls_1_2_is_refused_unless_it_is_asked_for(directory: Path) -> None:
    issued = written(directory)
    files = directory / "tls.crt", directory / "tls.key"
    client = client_context(issued.authority.certificate)
    client.maximum_version = ssl.TLSVersion.TLSv1_2

    for minimum in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2):
        async with listening(Reloader(*files, minimum=minimum).context) as port:
            if minimum == ssl.TLSVersion.TLSv1_3:
                with pytest.raises((ssl.SSLError, ConnectionError)):
                    await serial_seen(port, client)
            else:
                assert await serial_seen(port, client) == issued.leaf.serial_number


@pytest.mark.parametrize("name", ["tls.crt", "tls.key"])
def test_a_missing_file_is_named_with_the_remedy(directory: Path, name: str) -> None:
    written(directory)
    (directory / name).unlink()
    with pytest.raises(
        CertificateError, match=rf"{name}: the file does not exist; mount the TLS Secret there, or make one"
    ):
        context_of(directory)


def test_a_file_that_cannot_be_read_is_named(directory: Path) -> None:
    written(directory)
    (directory / "tls.key").unlink()
    (directory / "tls.key").mkdir()
    with pytest.raises(CertificateError, match=r"tls\.key: cannot be read: Is a directory"):
        context_of(directory)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not PEM",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        b"\xff\xfe\x00",
    ],
)
@pytest.mark.parametrize(("name", "kind"), [("tls.crt", "certificate"), ("tls.key", "private key")])
def test_a_file_that_is_not_pem_is_refused(directory: Path, content: bytes, name: str, kind: str) -> None:
    written(directory)
    (directory / name).write_bytes(content)
    with pytest.raises(CertificateError, match=rf"{name}: holds no readable {kind} in PEM form: \w+"):
        context_of(directory)


def test_an_encrypted_key_is_refused_without_asking_for_a_password(directory: Path) -> None:
    issued = written(directory)
    encryption = serialization.BestAvailableEncryption(b"secret")
    (directory / "tls.key").write_bytes(
        issued.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    )
    with pytest.raises(CertificateError, match=r"tls\.key: the key is encrypted; store it without a password"):
        context_of(directory)


def test_a_key_that_cannot_sign_is_refused(directory: Path) -> None:
    written(directory)
    (directory / "tls.key").write_bytes(
        x25519.X25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    with pytest.raises(CertificateError, match=r"tls\.key: a key of this kind cannot sign"):
        context_of(directory)


def test_a_key_that_belongs_to_another_certificate_is_refused(directory: Path) -> None:
    issued = written(directory)
    for other in (renewed(issued).files["tls.key"], private_key_pem(rsa.generate_private_key(65537, 2048))):
        (directory / "tls.key").write_bytes(other)
        with pytest.raises(
            CertificateError, match=r"tls\.key: the key does not belong to the certificate in .*tls\.crt"
        ):
            context_of(directory)


def test_an_expired_leaf_is_refused_from_the_second_it_expires(directory: Path) -> None:
    issued = written(directory, now=NOW)
    end = issued.leaf.not_valid_after_utc
    context_of(directory, now=end - timedelta(seconds=1))
    with pytest.raises(CertificateError, match=r"tls\.crt: the certificate expired on 2026-12-28 10:00 UTC; renew it"):
        context_of(directory, now=end)


def test_a_leaf_that_is_not_valid_yet_is_refused(directory: Path) -> None:
    written(directory, now=NOW)
    context_of(directory, now=NOW - timedelta(minutes=5))
    with pytest.raises(CertificateError, match="not valid before 2026-09-29 09:55 UTC; wait, or set the clock right"):
        context_of(directory, now=NOW - timedelta(minutes=6))


def test_a_leaf_that_names_nothing_is_refused_as_the_api_server_would(directory: Path) -> None:
    authority = authority_of_others(now=NOW)
    directory.mkdir()
    (directory / "tls.crt").write_bytes(authority.certificate.public_bytes(serialization.Encoding.PEM))
    (directory / "tls.key").write_bytes(private_key_pem(authority.key))
    with pytest.raises(CertificateError, match="no subject alternative name"):
        context_of(directory, now=NOW)


def test_a_pair_too_weak_for_openssl_is_refused(directory: Path) -> None:
    key = rsa.generate_private_key(65537, 1024)
    issued = written(directory)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(issued.leaf.subject)
        .issuer_name(issued.leaf.issuer)
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW + timedelta(days=1))
        .public_key(key.public_key())
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(issued.key, hashes.SHA256())
    )
    (directory / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (directory / "tls.key").write_bytes(private_key_pem(key))
    with pytest.raises(CertificateError, match="OpenSSL refuses this pair"):
        context_of(directory, now=NOW)
