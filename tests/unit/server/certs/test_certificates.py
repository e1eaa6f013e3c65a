"""The contents of the certificates, and how OpenSSL reads them."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from unit.server.certs.directories import written
from unit.server.certs.handshakes import client_context, listening, serial_seen
from usher.errors import CertificateError
from usher.server.certs import certificates, issue
from usher.server.certs.certificates import canonical_names, new_authority, new_leaf, renewal_time, service_names
from usher.server.certs.serving import Reloader

NOW = datetime(2026, 9, 29, 10, 0, tzinfo=UTC)


def test_an_authority_signs_leaves_only_and_lives_a_year() -> None:
    authority = new_authority(now=NOW).certificate
    constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints)
    usage = authority.extensions.get_extension_for_class(x509.KeyUsage)
    public_key = authority.public_key()

    assert constraints.critical
    assert constraints.value == x509.BasicConstraints(ca=True, path_length=0)
    assert usage.critical
    assert (usage.value.key_cert_sign, usage.value.crl_sign, usage.value.digital_signature) == (True, True, False)
    assert authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    assert isinstance(public_key, ec.EllipticCurvePublicKey)
    assert isinstance(public_key.curve, ec.SECP256R1)
    assert authority.not_valid_after_utc == NOW + timedelta(days=365)
    assert authority.not_valid_before_utc == NOW - timedelta(minutes=5)


def test_a_leaf_serves_its_names_for_ninety_days() -> None:
    authority = new_authority(now=NOW)
    leaf, key = new_leaf(authority, names=["gpu-usher.gpu-usher.svc", "127.0.0.1", "::1"], now=NOW)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    issuer_key = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    signer_key = authority.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest

    assert names.get_values_for_type(x509.DNSName) == ["gpu-usher.gpu-usher.svc"]
    assert names.get_values_for_type(x509.IPAddress) == [
        ipaddress.ip_address("127.0.0.1"),
        ipaddress.ip_address("::1"),
    ]
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert issuer_key == signer_key
    assert isinstance(key.curve, ec.SECP256R1)
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert leaf.not_valid_after_utc == NOW + timedelta(days=90)
    assert leaf.not_valid_before_utc == NOW - timedelta(minutes=5)
    assert certificates.issued_by(leaf, authority.certificate)


def test_serials_are_random_and_positive() -> None:
    authority = new_authority(now=NOW)
    serials = {new_leaf(authority, names=["a.example"], now=NOW)[0].serial_number for _ in range(20)}
    assert len(serials) == 20
    assert min(serials).bit_length() > 64


def test_authorities_have_names_of_their_own_so_that_a_bundle_can_hold_two() -> None:
    assert new_authority(now=NOW).certificate.subject != new_authority(now=NOW).certificate.subject


def test_a_leaf_ends_no_later_than_its_authority() -> None:
    authority = new_authority(now=NOW, lifetime=timedelta(days=10))
    leaf, _ = new_leaf(authority, names=["a.example"], now=NOW)
    assert leaf.not_valid_after_utc == authority.certificate.not_valid_after_utc


@pytest.mark.parametrize("later", [timedelta(days=365), timedelta(minutes=-6)])
def test_an_authority_signs_nothing_outside_its_dates(later: timedelta) -> None:
    authority = new_authority(now=NOW)
    with pytest.raises(CertificateError, match="make a new CA, or set the clock right"):
        new_leaf(authority, names=["a.example"], now=NOW + later)


def test_renewal_is_due_at_two_thirds_of_the_life() -> None:
    leaf, _ = new_leaf(new_authority(now=NOW), names=["a.example"], now=NOW, lifetime=timedelta(minutes=25))
    assert renewal_time(leaf) == NOW + timedelta(minutes=15)


def test_the_first_service_name_is_the_one_that_the_api_server_calls() -> None:
    assert service_names("gpu-usher", namespace="ml") == ["gpu-usher.ml.svc", "gpu-usher.ml.svc.cluster.local"]


def test_names_are_brought_into_the_form_that_certificates_carry() -> None:
    assert canonical_names(["A.Example.", "a.example", "*.b.example", "2001:DB8:0::1", "10.0.0.1"]) == [
        "a.example",
        "*.b.example",
        "2001:db8::1",
        "10.0.0.1",
    ]


@pytest.mark.parametrize(
    "name",
    ["", "a b", "a_b.svc", "-a.svc", "a-.svc", "a..svc", "grüße.example", "*", "a.*.svc", "x" * 64, "a." * 127 + "a"],
)
def test_a_value_that_is_neither_an_address_nor_a_name_is_refused(name: str) -> None:
    with pytest.raises(CertificateError, match="neither an IP address nor a DNS name"):
        canonical_names([name])


def test_a_certificate_needs_a_name() -> None:
    with pytest.raises(CertificateError, match="at least one"):
        canonical_names([])


def test_no_key_shows_in_a_representation() -> None:
    issued = issue.issue(names=["a.example"], certificate_authority=None, now=NOW)
    assert "key" not in repr(issued).lower()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
async def test_a_strict_client_accepts_the_leaf_by_dns_name_and_by_ip_address(tmp_path: Path, name: str) -> None:
    issued = written(tmp_path)
    async with listening(Reloader(tmp_path / "tls.crt", tmp_path / "tls.key").context) as port:
        seen = await serial_seen(port, client_context(issued.authority.certificate), name=name)
    assert seen == issued.leaf.serial_number


async def test_a_client_that_trusts_another_authority_refuses_the_leaf(tmp_path: Path) -> None:
    written(tmp_path, names=("localhost",))
    stranger = new_authority(now=datetime.now(UTC)).certificate
    async with listening(Reloader(tmp_path / "tls.crt", tmp_path / "tls.key").context) as port:
        with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer certificate"):
            await serial_seen(port, client_context(stranger))


@pytest.mark.parametrize("name", ["gpu-usher.other.svc", "127.0.0.2"])
async def test_a_client_that_asks_for_another_name_refuses_the_leaf(tmp_path: Path, name: str) -> None:
    issued = written(tmp_path, names=("gpu-usher.gpu-usher.svc", "127.0.0.1"))
    async with listening(Reloader(tmp_path / "tls.crt", tmp_path / "tls.key").context) as port:
        with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
            await serial_seen(port, client_context(issued.authority.certificate), name=name)
