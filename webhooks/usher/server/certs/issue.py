"""Makes a serving certificate and keeps it good in a directory, for development and for clusters without cert-manager.

The directory holds what a `kubernetes.io/tls` Secret with `ca.crt` holds, and the key of the CA:

    tls.crt  the leaf alone (clients know the CA from caBundle, so no chain is sent)
    tls.key  its key, 0600
    ca.crt   the CA that signs, then an earlier one while it is still valid: clients trust both during a change (P8)
    ca.key   the key of the CA that signs, 0600; it never goes into a Secret
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec import Struct

from usher.errors import CertificateError
from usher.server.certs import certificates


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """The new content of a file; `mode` is its permission bits, independent of the umask."""

    name: str
    content: bytes = field(repr=False)
    mode: int


@contextlib.contextmanager
def locked_directory(directory: Path) -> Iterator[None]:
    """Locks the directory against other usher processes; makes a missing directory.

    Raises:
        CertificateError: it cannot be made or opened.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CertificateError(f"{directory}: cannot be used as a directory: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_files(directory: Path, files: Sequence[NewFile], *, removed_first: Sequence[str] = ()) -> None:
    """Writes all files under temporary names, then removes the named ones and renames the files, in the order given.

    Until all are written, every old file is unchanged. Call it with the directory locked.

    Raises:
        CertificateError: a file cannot be written or renamed.
    """
    temporary = {file.name: directory / f".{file.name}.new" for file in files}
    try:
        for file in files:
            _write_temporary(temporary[file.name], file)
        for name in removed_first:
            (directory / name).unlink(missing_ok=True)
        for file in files:
            temporary[file.name].replace(directory / file.name)
        _sync(directory)
    except OSError as error:
        for path in temporary.values():
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        raise CertificateError(f"{directory}: cannot write {', '.join(temporary)}: {error.strerror}") from error


def _write_temporary(path: Path, file: NewFile) -> None:
    # A killed run may have left one. A new file cannot be a link, or be open to others.
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
    with os.fdopen(handle, "wb") as stream:
        os.fchmod(handle, file.mode)
        stream.write(file.content)
        stream.flush()
        os.fsync(handle)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A leaf, its key and the authorities to trust: its signer, and earlier ones whose leaves are still in use."""

    authority: certificates.CertificateAuthority
    earlier: tuple[x509.Certificate, ...]
    leaf: x509.Certificate
    key: ec.EllipticCurvePrivateKey = field(repr=False)

    @property
    def files(self) -> dict[str, bytes]:
        """The data of a `kubernetes.io/tls` Secret, in PEM: tls.crt, tls.key, ca.crt."""
        return {
            certificates.CERTIFICATE_FILE: _pem(self.leaf),
            certificates.KEY_FILE: certificates.private_key_pem(self.key),
            certificates.AUTHORITY_CERTIFICATE_FILE: _pem(self.authority.certificate, *self.earlier),
        }


class EnsuredAuthority(Struct, frozen=True, kw_only=True):
    """The CA of a directory. `reason` says why it was replaced; empty if it was kept."""

    authority: certificates.CertificateAuthority
    earlier: tuple[x509.Certificate, ...]
    reason: str


class Ensured(Struct, frozen=True, kw_only=True):
    """The present content of a directory. The reasons say why a part was replaced; empty if it was kept."""

    authorities: tuple[x509.Certificate, ...]
    authority_reason: str
    leaf: x509.Certificate
    leaf_reason: str


def issue(  # noqa: PLR0913 - all keyword-only, and the lifetimes have their defaults
    *,
    names: Sequence[str],
    certificate_authority: certificates.CertificateAuthority | None,
    now: datetime,
    earlier: Sequence[x509.Certificate] = (),
    authority_lifetime: timedelta = certificates.AUTHORITY_LIFETIME,
    leaf_lifetime: timedelta = certificates.LEAF_LIFETIME,
) -> Issued:
    """A leaf for DNS names and IP addresses, signed by the given authority, or by a new one. Pure.

    Raises:
        CertificateError: a name is not valid in a certificate, or the authority is not valid at `now`.
    """
    authority = certificate_authority or certificates.new_authority(now=now, lifetime=authority_lifetime)
    leaf, key = certificates.new_leaf(authority, names=names, now=now, lifetime=leaf_lifetime)
    return Issued(authority=authority, earlier=tuple(earlier), leaf=leaf, key=key)


def write_issued(directory: Path, issued: Issued, *, force: bool = False) -> None:
    """Writes the four files; those of the CA only if the directory does not hold that CA yet.

    Raises:
        CertificateError: they cannot be written, or would replace files that usher did not make, without `force`.
    """
    with locked_directory(directory):
        _write(directory, issued, contents=certificates.read_contents(directory), force=force)


def ensure(directory: Path, *, names: Sequence[str], now: datetime | None = None, force: bool = False) -> Ensured:
    """Makes the directory hold a good pair for these names; changes nothing if it does already.

    CA and leaf are renewed at two thirds of their lives. A CA of others is used while it is valid and never replaced,
    unless by `force`, which replaces everything and trusts no earlier CA.

    Raises:
        CertificateError: a name is unusable, or the files cannot be written or belong to others.
    """
    now = now or datetime.now(UTC)
    wanted = certificates.canonical_names(names)
    with locked_directory(directory):
        contents = certificates.read_contents(directory)
        leaf_reason = _why_new_leaf(contents, names=wanted, now=now)
        ensured = _authority(contents, now=now, force=force)
        # If the CA's key is kept elsewhere, a good leaf is enough.
        due = force or leaf_reason or (contents.authority and ensured.reason)
        if contents.leaf and not due:
            return Ensured(authorities=contents.authorities, authority_reason="", leaf=contents.leaf, leaf_reason="")
        issued = issue(names=wanted, certificate_authority=ensured.authority, earlier=ensured.earlier, now=now)
        _write(directory, issued, contents=contents, force=force)
    return Ensured(
        authorities=(ensured.authority.certificate, *ensured.earlier),
        authority_reason=ensured.reason,
        leaf=issued.leaf,
        leaf_reason=leaf_reason or "its CA is new",
    )


def ensure_authority(directory: Path, *, now: datetime | None = None, force: bool = False) -> EnsuredAuthority:
    """Makes the directory hold a good CA, like `ensure`, for leaves that are kept elsewhere.

    Raises:
        CertificateError: the files cannot be written or belong to others.
    """
    with locked_directory(directory):
        contents = certificates.read_contents(directory)
        ensured = _authority(contents, now=now or datetime.now(UTC), force=force)
        if ensured.reason:
            if not force:
                _refuse(directory, contents.authority_files_of_others())
            new = _authority_files(ensured.authority, earlier=ensured.earlier)
            replace_files(directory, new, removed_first=[certificates.AUTHORITY_KEY_FILE])
    return ensured


def _authority(contents: certificates.Contents, *, now: datetime, force: bool) -> EnsuredAuthority:
    reason = "asked for" if force else _why_new_authority(contents.authority, now=now)
    if contents.authority and not reason:
        others = (one for one in contents.authorities if one != contents.authority.certificate)
        return EnsuredAuthority(authority=contents.authority, earlier=tuple(others), reason="")
    # Force may mean that a key has leaked, so usher drops earlier CAs.
    valid = [] if force else [one for one in contents.authorities if now < one.not_valid_after_utc]
    return EnsuredAuthority(authority=certificates.new_authority(now=now), earlier=tuple(valid), reason=reason)


def _why_new_authority(authority: certificates.CertificateAuthority | None, *, now: datetime) -> str:
    if not authority:
        return "there was no CA with its key"
    return _why_renew(authority.certificate, now=now, early=certificates.made_here(authority.certificate))


def _why_new_leaf(contents: certificates.Contents, *, names: Sequence[str], now: datetime) -> str:
    leaf = contents.leaf
    if not leaf:
        return "there was no readable serving certificate"
    if not contents.leaf_has_key:
        return "its key did not belong to it"
    if not any(certificates.issued_by(leaf, authority) for authority in contents.authorities):
        return "no CA in ca.crt had signed it"
    missing = sorted(set(names) - set(certificates.subject_names(leaf)))
    if missing:
        return f"it lacked {', '.join(missing)}"
    signed_here = certificates.made_here(leaf) or (
        contents.authority and certificates.issued_by(leaf, contents.authority.certificate)
    )
    return _why_renew(leaf, now=now, early=bool(signed_here))


def _why_renew(certificate: x509.Certificate, *, now: datetime, early: bool) -> str:
    if now >= certificate.not_valid_after_utc:
        return f"it expired on {certificates.moment(certificate.not_valid_after_utc)}"
    if now < certificate.not_valid_before_utc:
        return f"it was not valid before {certificates.moment(certificate.not_valid_before_utc)}"
    if early and now >= certificates.renewal_time(certificate):
        return f"two thirds of its life were over on {certificates.moment(certificates.renewal_time(certificate))}"
    return ""


def _write(directory: Path, issued: Issued, *, contents: certificates.Contents, force: bool) -> None:
    known = contents.authority is not None and contents.authority.certificate == issued.authority.certificate
    if not force:
        _refuse(directory, [*([] if known else contents.authority_files_of_others()), *contents.leaf_files_of_others()])
    data = issued.files
    leaf_files = [
        NewFile(name=certificates.CERTIFICATE_FILE, content=data[certificates.CERTIFICATE_FILE], mode=0o644),
        NewFile(name=certificates.KEY_FILE, content=data[certificates.KEY_FILE], mode=0o600),
    ]
    if known:
        replace_files(directory, leaf_files)
        return
    # If a run is killed between two steps, the next one must be able to repair the directory. It can do so with a CA of
    # ours without its key, but not with a key beside the certificate of another CA.
    authority_files = _authority_files(issued.authority, earlier=issued.earlier)
    replace_files(directory, [*authority_files, *leaf_files], removed_first=[certificates.AUTHORITY_KEY_FILE])


def _authority_files(
    authority: certificates.CertificateAuthority, *, earlier: Sequence[x509.Certificate]
) -> list[NewFile]:
    return [
        NewFile(
            name=certificates.AUTHORITY_CERTIFICATE_FILE, content=_pem(authority.certificate, *earlier), mode=0o644
        ),
        NewFile(name=certificates.AUTHORITY_KEY_FILE, content=certificates.private_key_pem(authority.key), mode=0o600),
    ]


def _refuse(directory: Path, names: Sequence[str]) -> None:
    if names:
        raise CertificateError(
            f"{directory}: {' and '.join(names)} cannot be recognised as made by usher and would be replaced; "
            "move the files away, choose another directory, or use --force"
        )


def _pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in certificates)
