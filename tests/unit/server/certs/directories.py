"""Certificate directories in the states that tests need."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from usher.server.certs import certificates, issue
from usher.server.certs.certificates import CertificateAuthority, private_key_pem

NAMES = ("localhost", "127.0.0.1")


def written(
    directory: Path,
    *,
    now: datetime | None = None,
    authority: CertificateAuthority | None = None,
    names: tuple[str, ...] = NAMES,
) -> issue.Issued:
    """All four files, freshly issued at `now` (else the real time)."""
    issued = issue.issue(names=names, certificate_authority=authority, now=now or datetime.now(UTC))
    issue.write_issued(directory, issued, force=True)
    return issued


def renewed(issued: issue.Issued, *, now: datetime | None = None) -> issue.Issued:
    """Another leaf of the same CA."""
    return issue.issue(names=NAMES, certificate_authority=issued.authority, now=now or datetime.now(UTC))


def write_pair(directory: Path, issued: issue.Issued, *, certificate: bool = True, key: bool = True) -> None:
    """Only the serving files, or one of them, as a hand or a sidecar would write them."""
    directory.mkdir(parents=True, exist_ok=True)
    if certificate:
        (directory / "tls.crt").write_bytes(issued.files["tls.crt"])
    if key:
        (directory / "tls.key").write_bytes(issued.files["tls.key"])


def authority_of_others(
    *, now: datetime, lifetime: timedelta = timedelta(days=3650), ca: bool | None = True
) -> CertificateAuthority:
    """A CA as a company makes them: RSA, a name of its own, no subject key identifier.

    `ca` is its basic constraint; None leaves the extension out.
    """
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example Corporation")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + lifetime)
        .public_key(key.public_key())
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    return CertificateAuthority(certificate=builder.sign(key, hashes.SHA256()), key=key)


def write_authority(directory: Path, authority: CertificateAuthority, *, key: bool = True) -> None:
    """ca.crt, and ca.key unless somebody keeps that elsewhere."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "ca.crt").write_bytes(authority.certificate.public_bytes(serialization.Encoding.PEM))
    if key:
        (directory / "ca.key").write_bytes(private_key_pem(authority.key))


def snapshot(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Every file's bytes and time of change."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(directory.iterdir())}


def authorities_in(directory: Path) -> list[x509.Certificate]:
    path = directory / "ca.crt"
    return certificates.read_certificates(path.read_bytes(), source=path)


def pair_in(directory: Path) -> x509.Certificate:
    """The leaf; asserts that it matches its key and is signed by a CA of ca.crt."""
    leaf = certificates.read_pair(directory / "tls.crt", directory / "tls.key").leaf
    assert any(certificates.issued_by(leaf, authority) for authority in authorities_in(directory))
    return leaf
