"""The files in a certificate directory, and which of them usher did not make."""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes

from usher.certs import pem
from usher.certs.authority import CertificateAuthority, made_here
from usher.dataclass import dataclass
from usher.errors import CertificateError

CERTIFICATE = "tls.crt"
KEY = "tls.key"
AUTHORITY_CERTIFICATE = "ca.crt"
AUTHORITY_KEY = "ca.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The readable files of a directory."""

    present: frozenset[str]
    authorities: tuple[x509.Certificate, ...]
    authority: CertificateAuthority | None
    """The authority whose key is in the directory."""
    leaf: x509.Certificate | None
    leaf_has_key: bool

    def authority_files_of_others(self) -> list[str]:
        """The file of another CA that would be lost if a CA of usher replaced it."""
        if AUTHORITY_KEY in self.present:
            ours = self.authority is not None and made_here(self.authority.certificate)
            return [] if ours else [AUTHORITY_KEY]
        ours = any(made_here(authority) for authority in self.authorities)
        return [] if ours or AUTHORITY_CERTIFICATE not in self.present else [AUTHORITY_CERTIFICATE]

    def leaf_files_of_others(self) -> list[str]:
        """The files of another serving certificate that would be lost if one of usher replaced it."""
        present = [name for name in (CERTIFICATE, KEY) if name in self.present]
        if self.leaf:
            ours = made_here(self.leaf) or any(pem.issued_by(self.leaf, authority) for authority in self.authorities)
        else:
            ours = self.authority is not None and made_here(self.authority.certificate)
        return [] if ours else present


def read_contents(directory: Path) -> Contents:
    """The content of a directory. A file that cannot be parsed counts as absent, except in `present`."""
    authorities = tuple(filter(_is_authority, _certificates(directory / AUTHORITY_CERTIFICATE)))
    authority_key = _key(directory / AUTHORITY_KEY)
    leaf = next(iter(_certificates(directory / CERTIFICATE)), None)
    leaf_key = _key(directory / KEY)
    names = (CERTIFICATE, KEY, AUTHORITY_CERTIFICATE, AUTHORITY_KEY)
    return Contents(
        present=frozenset(name for name in names if (directory / name).exists()),
        authorities=authorities,
        authority=_authority(authorities, key=authority_key),
        leaf=leaf,
        leaf_has_key=bool(leaf and leaf_key and pem.belongs(leaf_key, certificate=leaf)),
    )


def _authority(
    certificates: tuple[x509.Certificate, ...], *, key: CertificateIssuerPrivateKeyTypes | None
) -> CertificateAuthority | None:
    for certificate in certificates:
        if key and pem.belongs(key, certificate=certificate):
            return CertificateAuthority(certificate=certificate, key=key)
    return None


def _certificates(path: Path) -> list[x509.Certificate]:
    try:
        return pem.certificates(pem.read(path), source=path)
    except CertificateError:
        return []


def _key(path: Path) -> CertificateIssuerPrivateKeyTypes | None:
    try:
        return pem.private_key(pem.read(path), source=path)
    except CertificateError:
        return None


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False
