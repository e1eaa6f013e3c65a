"""A certificate authority and the leaves it signs. Pure: no files, no clock.

Lifetimes are promise P8: a leaf lives 90 days, an authority a year, and both are replaced at two thirds of their life.
So an authority that signs always has more than a leaf's life left, and a leaf never outlives it.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from usher import paths
from usher.errors import CertificateError

AUTHORITY_LIFETIME = timedelta(days=365)
LEAF_LIFETIME = timedelta(days=90)
CLOCK_SKEW = timedelta(minutes=5)
"""A new certificate is valid from this long before its creation, because clocks of API servers lag."""

ORGANIZATION = "gpu-usher"
"""Subject organisation of every authority made here; it distinguishes them from others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateAuthority:
    """An authority that signs leaves; `key` belongs to `certificate`."""

    certificate: x509.Certificate
    key: CertificateIssuerPrivateKeyTypes = field(repr=False)


def new_authority(*, now: datetime, lifetime: timedelta = AUTHORITY_LIFETIME) -> CertificateAuthority:
    """A self-signed authority (ECDSA P-256) that signs leaves only, not further authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    # While one authority replaces another, a bundle holds both; the name distinguishes them.
    name = _name(f"gpu-usher CA {serial:x}"[:24])
    certificate = (
        _builder(subject=name, issuer=name, serial=serial, now=now)
        .not_valid_after(now + lifetime)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return CertificateAuthority(certificate=certificate, key=key)


def new_leaf(
    authority: CertificateAuthority, *, names: Sequence[str], now: datetime, lifetime: timedelta = LEAF_LIFETIME
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A serving certificate (ECDSA P-256) for DNS names and IP addresses, and its key.

    It ends when the authority ends, or earlier.

    Raises:
        CertificateError: no name, a name that no certificate can carry, or an authority that is not valid at `now`.
    """
    signer = authority.certificate
    if not signer.not_valid_before_utc <= now < signer.not_valid_after_utc:
        raise CertificateError(
            f"the CA {signer.subject.rfc4514_string()} is valid from {signer.not_valid_before_utc} "
            f"to {signer.not_valid_after_utc}, not at {now}: make a new CA, or set the clock right"
        )
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(subject=_name("gpu-usher"), issuer=signer.subject, serial=x509.random_serial_number(), now=now)
        .not_valid_after(min(now + lifetime, signer.not_valid_after_utc))
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_general_names(names)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_authority_key_identifier(signer), critical=False)
        .sign(authority.key, _digest(authority.key))
    )
    return certificate, key


def service_names(service: str, *, namespace: str) -> list[str]:
    """The DNS names by which a Service is called; the API server uses the first."""
    return [f"{service}.{namespace}.svc", f"{service}.{namespace}.svc.cluster.local"]


def canonical_names(names: Sequence[str]) -> list[str]:
    """The names in the form of certificates: lower case, addresses in their shortest form, each once, order kept.

    Raises:
        CertificateError: no name, or one that is neither an IP address nor a DNS name.
    """
    if not names:
        raise CertificateError("a serving certificate needs at least one DNS name or IP address")
    return list(dict.fromkeys(_canonical(name) for name in names))


def renewal_time(certificate: x509.Certificate) -> datetime:
    """The time when two thirds of its life are over."""
    start = certificate.not_valid_before_utc
    return start + (certificate.not_valid_after_utc - start) * 2 / 3


def made_here(certificate: x509.Certificate) -> bool:
    """Whether an authority of usher signed it (an authority of usher signed itself)."""
    organizations = certificate.issuer.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return [attribute.value for attribute in organizations] == [ORGANIZATION]


def private_key_pem(key: CertificateIssuerPrivateKeyTypes) -> bytes:
    """PKCS #8, not encrypted, so that the server starts without a password."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _builder(*, subject: x509.Name, issuer: x509.Name, serial: int, now: datetime) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(serial)
        .not_valid_before(now - CLOCK_SKEW)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _authority_key_identifier(signer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    try:
        subject_key = signer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())  # type: ignore[arg-type] # signs
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(subject_key)


def _digest(key: CertificateIssuerPrivateKeyTypes) -> hashes.SHA256 | None:
    # The Edwards curves have their own digest and accept no other.
    return None if isinstance(key, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey) else hashes.SHA256()


def _general_names(names: Sequence[str]) -> list[x509.GeneralName]:
    general: list[x509.GeneralName] = []
    for name in canonical_names(names):
        try:
            general.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            general.append(x509.DNSName(name))
    return general


def _canonical(name: str) -> str:
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        pass
    text = name.lower().removesuffix(".")
    labels = text.removeprefix("*.").split(".")
    if len(text) > 253 or not all(paths.LABEL.fullmatch(label) for label in labels):
        raise CertificateError(f"{name!r} is neither an IP address nor a DNS name that a certificate can carry")
    return text
