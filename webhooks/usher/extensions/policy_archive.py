"""The file format of compiled policies: a zip archive, which may end with a signature over all bytes before it.

The signature stands in the comment at the end of the archive and has a fixed length, so it is verified over the bytes
of the file before anything in them is parsed. Ed25519 (RFC 8032) signs the bytes themselves: `openssl pkeyutl -rawin`
verifies it too.

OPA's `.signatures.json` does not fit. Its tokens name the algorithm that verifies them, and it digests JSON files as
OPA's own parser reads them, not their bytes.
"""

import base64
import binascii
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import orjson

from usher import errors, paths

LARGEST: Final = 256 * 2**20
"""Bytes of an archive; the library of Gatekeeper, 49 templates, has 6 MiB."""
MANIFEST: Final = "manifest.json"
_LARGEST_MANIFEST: Final = 64 * 2**20

_MAGIC: Final = b"PK\x03\x04"
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that equal policies give equal archives."""

_MARK: Final = b"usher-ed25519:"
_COMMENT: Final = len(_MARK) + 88
"""Bytes of the comment: the mark, and the 64 bytes of a signature in base64."""
_MOST_KEY: Final = 16 * 2**10
"""Bytes of a key file."""


class VerifyKey(Protocol):
    """A public key of Ed25519."""

    def verify(self, signature: bytes, data: bytes, /) -> None: ...


class SigningKey(Protocol):
    """A private key of Ed25519."""

    def sign(self, data: bytes, /) -> bytes: ...


def is_archive(start: bytes) -> bool:
    """Whether a file that starts with these bytes claims to be an archive."""
    return start.startswith(_MAGIC)


def written(manifest: Mapping[str, object], files: Mapping[str, bytes]) -> bytes:
    """An archive with a manifest and files. Equal content gives equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        archive.writestr(zipfile.ZipInfo(MANIFEST, _LONG_AGO), orjson.dumps(manifest, option=options), compresslevel=9)
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


@contextmanager
def opened(content: bytes, *, source: str) -> Iterator[zipfile.ZipFile]:
    """The archive in the content of a file.

    Raises:
        InputError: it is damaged or larger than LARGEST; also raised when the caller reads a damaged part.
    """
    if len(content) > LARGEST:
        raise errors.InputError(f"{source}: has more than {LARGEST} bytes; divide the policies")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise errors.InputError(
            f"{source}: is not a whole bundle of policies ({error!s:.200}); build it again with `usher policies build`"
        ) from None


def manifest(archive: zipfile.ZipFile, *, source: str) -> paths.Object:
    """The manifest of an archive.

    Raises:
        InputError: it is not a mapping, or is too large.
    """
    found = orjson.loads(entry(archive, MANIFEST, most=_LARGEST_MANIFEST, source=source))
    if not isinstance(found, dict):
        raise errors.InputError(f"{source}: {MANIFEST} is not a mapping")
    return found


def entry(archive: zipfile.ZipFile, name: str, *, most: int, source: str) -> bytes:
    """The content of a file in an archive.

    Raises:
        InputError: it has more than `most` bytes, or its compression is not one that usher writes.
    """
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise errors.InputError(f"{source}: {name} is packed in a way that usher does not read")
    with archive.open(name) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise errors.InputError(f"{source}: {name} has more than {most} bytes")
    return content


def signed(content: bytes, key: SigningKey) -> bytes:
    """An archive with a signature over all bytes before it."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"\0" * _COMMENT
    body = buffer.getvalue()[:-_COMMENT]
    return body + _MARK + base64.b64encode(key.sign(body))


def verify(content: bytes, key: VerifyKey, *, source: str) -> None:
    """Returns if the owner of a key signed these bytes.

    Raises:
        InputError: they are not signed, were changed, or another key signed them.
    """
    from cryptography.exceptions import InvalidSignature

    body, comment = content[:-_COMMENT], content[-_COMMENT:]
    if not comment.startswith(_MARK):
        raise errors.InputError(
            f"{source}: is not signed, and a key to verify was given; build it with `usher policies build --sign-key`"
        )
    try:
        key.verify(_decoded(comment.removeprefix(_MARK)), body)
    except (InvalidSignature, binascii.Error):
        raise errors.InputError(
            f"{source}: its signature is not one of the given key: the bundle was changed, or another key signed it; "
            "take it again from where it is built"
        ) from None


def _decoded(text: bytes) -> bytes:
    """The bytes of a base64 text in its only accepted spelling: bits that the last character does not use are zero.

    Raises:
        binascii.Error: it is not that text.
    """
    found = base64.b64decode(text, validate=True)
    if base64.b64encode(found) != text:
        raise binascii.Error("not as base64 writes it")
    return found


def private_key(file: Path) -> SigningKey:
    """The key to sign with, in PEM (PKCS #8, not encrypted), as `openssl genpkey -algorithm ed25519` makes it.

    Raises:
        InputError: the file cannot be read, or does not hold one.
    """
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(_content(file), password=None)
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise errors.InputError(
            f"{file}: is not a private Ed25519 key in PEM without a password; "
            "make one with `openssl genpkey -algorithm ed25519`"
        )
    return found


def public_key(file: Path) -> VerifyKey:
    """The key to verify with, in PEM, as `openssl pkey -pubout` writes it.

    Raises:
        InputError: the file cannot be read, or does not hold one.
    """
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found = load_pem_public_key(_content(file))
    except ValueError:
        found = None
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise errors.InputError(
            f"{file}: is not a public Ed25519 key in PEM; `openssl pkey -in KEY -pubout` writes that of a private key"
        )
    return found


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_KEY)
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
