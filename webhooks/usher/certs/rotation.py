"""The content of a self-managed certificate's Secret, and the changes that are due. Pure: no cluster, no clock.

Everything follows from the certificates, so all replicas come to the same result. A change of the CA takes three steps,
with at least OVERLAP between them: caBundle gets the new CA beside the old one; a leaf of the new CA replaces the leaf;
the old CA leaves caBundle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes

from usher.certs import pem
from usher.certs.authority import (
    CLOCK_SKEW,
    CertificateAuthority,
    canonical_names,
    new_authority,
    new_leaf,
    private_key_pem,
    renewal_time,
)
from usher.certs.contents import AUTHORITY_CERTIFICATE, AUTHORITY_KEY, CERTIFICATE, KEY
from usher.dataclass import dataclass
from usher.errors import CertificateError

OVERLAP: Final = timedelta(hours=24)
"""How long a new CA is trusted before one of its leaves is served, and how long an old one is after that."""

URGENT: Final = timedelta(days=7)
"""A leaf with less time left is replaced even while the CA changes."""

_MOST_AUTHORITIES: Final = 4
_LONGEST: Final = 64 * 1024
"""Bytes of one part of the Secret; ours have less than 4 KiB."""

_PARTS: Final = (AUTHORITY_CERTIFICATE, AUTHORITY_KEY, CERTIFICATE, KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A CA that signs, the leaf in service with its key, and all CAs to trust: the signing one is the first."""

    authorities: tuple[x509.Certificate, ...]
    authority_key: CertificateIssuerPrivateKeyTypes = field(repr=False)
    leaf: x509.Certificate
    leaf_key: CertificateIssuerPrivateKeyTypes = field(repr=False)

    @property
    def signer(self) -> x509.Certificate:
        """The CA that signs the next leaf."""
        return self.authorities[0]

    @property
    def issuer(self) -> x509.Certificate:
        """The CA that signed the leaf."""
        return next(each for each in self.authorities if pem.issued_by(self.leaf, each))

    @property
    def bundle(self) -> bytes:
        """The CAs to trust, in PEM: the value of caBundle."""
        return b"".join(map(_pem, self.authorities))

    def data(self) -> Mapping[str, bytes]:
        """The parts of the Secret."""
        return {
            AUTHORITY_CERTIFICATE: self.bundle,
            AUTHORITY_KEY: private_key_pem(self.authority_key),
            CERTIFICATE: _pem(self.leaf),
            KEY: private_key_pem(self.leaf_key),
        }


def read(data: Mapping[str, bytes], *, source: str) -> Kept | None:
    """The content of a Secret; None if it is empty.

    Raises:
        CertificateError: a part is missing, too large or unreadable, or the parts do not belong together.
    """
    if not any(data.get(part) for part in _PARTS):
        return None
    for part in _PARTS:
        if not 0 < len(data.get(part, b"")) <= _LONGEST:
            raise CertificateError(f"{source}: {part} is empty or has more than {_LONGEST} bytes")
    authorities = tuple(pem.certificates(data[AUTHORITY_CERTIFICATE], source=f"{source}: {AUTHORITY_CERTIFICATE}"))
    kept = Kept(
        authorities=authorities,
        authority_key=pem.private_key(data[AUTHORITY_KEY], source=f"{source}: {AUTHORITY_KEY}"),
        leaf=pem.certificates(data[CERTIFICATE], source=f"{source}: {CERTIFICATE}")[0],
        leaf_key=pem.private_key(data[KEY], source=f"{source}: {KEY}"),
    )
    if len(authorities) > _MOST_AUTHORITIES or not all(map(_signs, authorities)):
        raise CertificateError(f"{source}: {AUTHORITY_CERTIFICATE} holds something other than a few CAs")
    if not pem.belongs(kept.authority_key, certificate=kept.signer):
        raise CertificateError(f"{source}: {AUTHORITY_KEY} does not belong to the first CA of {AUTHORITY_CERTIFICATE}")
    if not pem.belongs(kept.leaf_key, certificate=kept.leaf):
        raise CertificateError(f"{source}: {KEY} does not belong to {CERTIFICATE}")
    if not any(pem.issued_by(kept.leaf, each) for each in authorities):
        raise CertificateError(f"{source}: no CA of {AUTHORITY_CERTIFICATE} signed {CERTIFICATE}")
    return kept


def advanced(
    kept: Kept | None, *, names: Sequence[str], now: datetime, trusted: bool, before: Sequence[x509.Certificate] = ()
) -> Kept:
    """The content that the Secret should have at `now`; the same object if no change is due.

    Args:
        kept: its content; None if it is lost.
        names: DNS names and IP addresses that the leaf must have.
        now: the time.
        trusted: whether every caBundle holds the CA that signs.
        before: CAs that this server trusted before the content was lost. Their leaves may still be in service.

    Raises:
        CertificateError: a name is unusable, or the CA that signs is not valid yet, so the clock is wrong.
    """
    if kept is None or now >= kept.signer.not_valid_after_utc:
        return _made_anew(names, now=now, before=kept.authorities if kept is not None else before)
    staged = _with_new_authority(kept, now=now)
    renewed = _with_new_leaf(staged, names=names, now=now, trusted=trusted and staged is kept)
    return _without_old_authorities(renewed, now=now)


def _made_anew(names: Sequence[str], *, now: datetime, before: Sequence[x509.Certificate]) -> Kept:
    authority = new_authority(now=now)
    leaf, key = new_leaf(authority, names=names, now=now)
    earlier = [each for each in before if now < each.not_valid_after_utc][: _MOST_AUTHORITIES - 1]
    return Kept(authorities=(authority.certificate, *earlier), authority_key=authority.key, leaf=leaf, leaf_key=key)


def _with_new_authority(kept: Kept, *, now: datetime) -> Kept:
    if now < renewal_time(kept.signer):
        return kept
    authority = new_authority(now=now)
    # The leaf stays; leaves of the other CAs are not in service any more.
    return replace(kept, authorities=(authority.certificate, kept.issuer), authority_key=authority.key)


def _with_new_leaf(kept: Kept, *, names: Sequence[str], now: datetime, trusted: bool) -> Kept:
    if not _leaf_is_due(kept, names=names, now=now, trusted=trusted):
        return kept
    authority = CertificateAuthority(certificate=kept.signer, key=kept.authority_key)
    leaf, key = new_leaf(authority, names=names, now=now)
    return replace(kept, leaf=leaf, leaf_key=key)


def _leaf_is_due(kept: Kept, *, names: Sequence[str], now: datetime, trusted: bool) -> bool:
    if set(canonical_names(names)) != set(pem.subject_names(kept.leaf)):
        return True
    if kept.leaf.not_valid_after_utc - now < URGENT:
        return True
    if pem.issued_by(kept.leaf, kept.signer):
        return now >= renewal_time(kept.leaf)
    return trusted and now >= _made(kept.signer) + OVERLAP


def _without_old_authorities(kept: Kept, *, now: datetime) -> Kept:
    settled = pem.issued_by(kept.leaf, kept.signer) and now >= _made(kept.leaf) + OVERLAP
    needed = (kept.signer,) if settled else kept.authorities
    left = tuple(each for each in needed if now < each.not_valid_after_utc)
    return kept if left == kept.authorities else replace(kept, authorities=left)


def _made(certificate: x509.Certificate) -> datetime:
    return certificate.not_valid_before_utc + CLOCK_SKEW


def _signs(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
