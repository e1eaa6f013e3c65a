"""Certificates: an authority, the leaves that it signs, and their PEM files and directories. It has no clock.

Lifetimes are promise P8: a leaf lives 90 days, an authority a year, and both are replaced at two thirds of their life.
So an authority that signs always has more than a leaf's life left, and a leaf never outlives it. Errors about files
name the file and the remedy.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

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


_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, x509.DuplicateExtension, x509.InvalidVersion)
_SIGNING_KEYS = (ec.EllipticCurvePrivateKey, rsa.RSAPrivateKey, ed25519.Ed25519PrivateKey, ed448.Ed448PrivateKey)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A serving certificate and its key, which belong together."""

    leaf: x509.Certificate
    certificate_pem: bytes
    """The leaf, and CAs after it if the file has some."""
    key_pem: bytes = field(repr=False)


def read_file(path: Path) -> bytes:
    """The bytes of one file.

    Raises:
        CertificateError: it is missing or cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CertificateError(
            f"{path}: the file does not exist; mount the TLS Secret there, or make one with `usher certs issue`"
        ) from None
    except OSError as error:
        raise CertificateError(f"{path}: cannot be read: {error.strerror}") from error


def read_certificates(content: bytes, *, source: Path | str) -> list[x509.Certificate]:
    """All certificates of a PEM file, in its order; at least one.

    Raises:
        CertificateError: the file has no certificate, or one that cannot be parsed.
    """
    try:
        found = x509.load_pem_x509_certificates(content)
        for certificate in found:
            # The library parses lazily: this makes errors appear here.
            _ = certificate.extensions, certificate.subject, certificate.issuer, certificate.not_valid_after_utc
    except _UNREADABLE as error:
        raise CertificateError(f"{source}: holds no readable certificate in PEM form: {_reason(error)}") from error
    return found


def private_key(content: bytes, *, source: Path | str) -> CertificateIssuerPrivateKeyTypes:
    """The private key of a PEM file: EC, RSA, Ed25519 or Ed448.

    Raises:
        CertificateError: the key cannot be parsed, needs a password, or is of a kind that cannot sign.
    """
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError as error:
        raise CertificateError(f"{source}: the key is encrypted; store it without a password") from error
    except _UNREADABLE as error:
        raise CertificateError(f"{source}: holds no readable private key in PEM form: {_reason(error)}") from error
    if not isinstance(key, _SIGNING_KEYS):
        raise CertificateError(f"{source}: a key of this kind cannot sign; use ECDSA P-256")
    return key


def belongs(key: CertificateIssuerPrivateKeyTypes, *, certificate: x509.Certificate) -> bool:
    """Whether the certificate was made for this key."""
    return key.public_key() == certificate.public_key()


def issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Whether the authority signed the certificate: names and signature, not dates."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, *_UNREADABLE):
        return False
    return True


def read_pair(certificate_file: Path, key_file: Path) -> Pair:
    """The leaf (first of its file), checked against its key, without a check of dates.

    Raises:
        CertificateError: a file is missing or unreadable, the key does not belong to it, or the leaf has no names.
    """
    certificate_pem, key_pem = read_file(certificate_file), read_file(key_file)
    leaf = read_certificates(certificate_pem, source=certificate_file)[0]
    if not belongs(private_key(key_pem, source=key_file), certificate=leaf):
        raise CertificateError(
            f"{key_file}: the key does not belong to the certificate in {certificate_file}; "
            "both must come from the same issuance"
        )
    if not subject_names(leaf):
        raise CertificateError(
            f"{certificate_file}: the certificate has no subject alternative name, and the API server looks at "
            "nothing else; issue it for <service>.<namespace>.svc"
        )
    return Pair(leaf=leaf, certificate_pem=certificate_pem, key_pem=key_pem)


def check_dates(certificate: x509.Certificate, *, source: Path, now: datetime) -> None:
    """Returns if the certificate is valid at `now`.

    Raises:
        CertificateError: it has expired or is not valid yet.
    """
    problem = date_problem(certificate, now=now)
    if problem:
        remedy = "renew it" if now >= certificate.not_valid_after_utc else "wait, or set the clock right"
        raise CertificateError(f"{source}: the certificate {problem}; {remedy}")


def date_problem(certificate: x509.Certificate, *, now: datetime) -> str:
    """Why the certificate is not valid at `now`: `expired on ...` or `is not valid before ...`; empty if it is."""
    if now >= certificate.not_valid_after_utc:
        return f"expired on {moment(certificate.not_valid_after_utc)}"
    if now < certificate.not_valid_before_utc:
        return f"is not valid before {moment(certificate.not_valid_before_utc)}"
    return ""


def subject_names(certificate: x509.Certificate) -> list[str]:
    """DNS names and IP addresses of the subject alternative name, as text; empty without one."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    addresses = names.get_values_for_type(x509.IPAddress)
    return [*names.get_values_for_type(x509.DNSName), *(str(address) for address in addresses)]


def moment(time: datetime) -> str:
    """A time as messages show it: `2026-09-29 10:00 UTC`."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _reason(error: Exception) -> str:
    return str(error).partition(" See https://")[0].rstrip(".") or type(error).__name__


CERTIFICATE_FILE = "tls.crt"
KEY_FILE = "tls.key"
AUTHORITY_CERTIFICATE_FILE = "ca.crt"
AUTHORITY_KEY_FILE = "ca.key"


class Contents(Struct, frozen=True, kw_only=True):
    """The readable files of a directory."""

    present: frozenset[str]
    authorities: tuple[x509.Certificate, ...]
    authority: CertificateAuthority | None
    """The authority whose key is in the directory."""
    leaf: x509.Certificate | None
    leaf_has_key: bool

    def authority_files_of_others(self) -> list[str]:
        """The file of another CA that would be lost if a CA of usher replaced it."""
        if AUTHORITY_KEY_FILE in self.present:
            ours = self.authority is not None and made_here(self.authority.certificate)
            return [] if ours else [AUTHORITY_KEY_FILE]
        ours = any(made_here(authority) for authority in self.authorities)
        return [] if ours or AUTHORITY_CERTIFICATE_FILE not in self.present else [AUTHORITY_CERTIFICATE_FILE]

    def leaf_files_of_others(self) -> list[str]:
        """The files of another serving certificate that would be lost if one of usher replaced it."""
        present = [name for name in (CERTIFICATE_FILE, KEY_FILE) if name in self.present]
        if self.leaf:
            ours = made_here(self.leaf) or any(issued_by(self.leaf, authority) for authority in self.authorities)
        else:
            ours = self.authority is not None and made_here(self.authority.certificate)
        return [] if ours else present


def read_contents(directory: Path) -> Contents:
    """The content of a directory. A file that cannot be parsed counts as absent, except in `present`."""
    authorities = tuple(filter(_is_authority, _certificates(directory / AUTHORITY_CERTIFICATE_FILE)))
    authority_key = _key(directory / AUTHORITY_KEY_FILE)
    leaf = next(iter(_certificates(directory / CERTIFICATE_FILE)), None)
    leaf_key = _key(directory / KEY_FILE)
    names = (CERTIFICATE_FILE, KEY_FILE, AUTHORITY_CERTIFICATE_FILE, AUTHORITY_KEY_FILE)
    return Contents(
        present=frozenset(name for name in names if (directory / name).exists()),
        authorities=authorities,
        authority=_authority(authorities, key=authority_key),
        leaf=leaf,
        leaf_has_key=bool(leaf and leaf_key and belongs(leaf_key, certificate=leaf)),
    )


def _authority(
    certificates: tuple[x509.Certificate, ...], *, key: CertificateIssuerPrivateKeyTypes | None
) -> CertificateAuthority | None:
    for certificate in certificates:
        if key and belongs(key, certificate=certificate):
            return CertificateAuthority(certificate=certificate, key=key)
    return None


def _certificates(path: Path) -> list[x509.Certificate]:
    try:
        return read_certificates(read_file(path), source=path)
    except CertificateError:
        return []


def _key(path: Path) -> CertificateIssuerPrivateKeyTypes | None:
    try:
        return private_key(read_file(path), source=path)
    except CertificateError:
        return None


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False
