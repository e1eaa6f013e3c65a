"""A Secret that is mounted as a folder: the files that a pod signs in to Prometheus with."""

from pathlib import Path
from typing import Final

from usher import errors
from usher.dataclass import dataclass

TOKEN: Final = "token"  # noqa: S105 - the name of a file
CA: Final = "ca.crt"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of a folder; None for those that it lacks."""

    token: Path | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def files(folder: Path) -> Files:
    """The files by the names that Secrets of service accounts and of certificates have.

    Raises:
        InputError: the folder has no such file.
    """
    found = {name: folder / name for name in (TOKEN, CA, CERTIFICATE, KEY) if (folder / name).is_file()}
    if not found:
        raise errors.InputError(
            f"{folder}: the folder has no file {TOKEN}, {CA}, {CERTIFICATE} or {KEY}; mount a Secret with these keys"
        )
    if KEY in found and CERTIFICATE not in found:
        raise errors.InputError(f"{folder}: {KEY} belongs to a certificate; add {CERTIFICATE} to the Secret")
    return Files(token=found.get(TOKEN), ca=found.get(CA), certificate=found.get(CERTIFICATE), key=found.get(KEY))
