"""The policies on disk: where they are, and proof that they belong together.

In an installed package they are in `usher/_policies`, in a checkout in `policies/`; only this module knows that.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import orjson
import pydantic
from msgspec import Struct

from usher import errors
from usher.policy.checks import catalogue as checks_catalogue

MANIFEST = "bundle.json"
WASM = "policy.wasm"
CATALOGUE = "catalogue.json"
REVISION_FILE = "usher/main/revision.rego"
"""A generated file by which an OPA server answers which policies it has."""
REVISION_RULE = "usher/main/revision"


class Bundle(Struct, frozen=True, kw_only=True):
    """A verified bundle."""

    directory: Path
    revision: str
    """Digest over all files; every change of a policy changes it."""
    source_revision: str
    """Digest over the Rego sources alone, which is also the value of REVISION_RULE."""
    module: bytes
    catalogue: checks_catalogue.Catalogue


def sources(directory: Path) -> list[Path]:
    """The Rego files that are compiled; tests are not."""
    return [directory / name for name in _sources(directory)]


def _sources(directory: Path) -> list[str]:
    """Paths of the files in the directory.

    These are texts because every run reads all: a `Path` costs more than its file.
    """
    root = len(os.path.join(directory, ""))  # noqa: PTH118 - as above
    found = (f"{folder}/{name}"[root:] for folder, _, names in os.walk(directory) for name in names)
    return sorted(name for name in found if name.endswith(".rego") and not name.endswith("_test.rego"))


def digests(contents: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of every file, by its path."""
    return {path: _sha256(content) for path, content in contents.items()}


def contents(directory: Path, *, generated: bool = True) -> dict[str, bytes]:
    """Every file of the bundle, by its path in the bundle; if not `generated`, only its sources."""
    names = [*_sources(directory), *((CATALOGUE, WASM) if generated else ())]
    return {name: _read(f"{directory}/{name}") for name in names}


def _read(file: str) -> bytes:
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - see `_sources`
        return stream.read()


def revision(file_digests: Mapping[str, str]) -> str:
    return _sha256("\n".join(f"{path} {digest}" for path, digest in sorted(file_digests.items())).encode())[:16]


def source_revision(file_digests: Mapping[str, str]) -> str:
    # The digest leaves out the file that holds it.
    return revision(
        {path: digest for path, digest in file_digests.items() if path.endswith(".rego") and path != REVISION_FILE}
    )


def find() -> Path:
    """The directory of the packaged policies, or of the policies in the checkout.

    Raises:
        BundleError: there is neither.
    """
    package = Path(__file__).resolve().parents[2]
    for directory in (package / "_policies", package.parents[1] / "policies"):
        if (directory / MANIFEST).is_file():
            return directory
    raise errors.BundleError(f"no policies beside {package}; the installation is incomplete, install gpu-usher again")


def load(directory: Path | None = None) -> Bundle:
    """Reads and verifies a bundle.

    Raises:
        BundleError: a file is missing or unreadable, or does not have the digest that was noted when it was built.
    """
    directory = directory or find()
    try:
        manifest = orjson.loads((directory / MANIFEST).read_bytes())
        expected = dict(manifest["files"])
        found = contents(directory)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise errors.BundleError(f"{directory}: the policy bundle cannot be read: {error}") from None
    actual = digests(found)
    for path in sorted({*expected, *actual}):
        if expected.get(path) != actual.get(path):
            raise errors.BundleError(
                f"{directory / path}: not the file that {WASM} was built from and tested with; "
                "run scripts/policies, or install gpu-usher again"
            )
    try:
        entries = checks_catalogue.parse(found[CATALOGUE])
    except (pydantic.ValidationError, KeyError) as error:
        raise errors.BundleError(f"{directory / CATALOGUE}: {error}") from None
    return Bundle(
        directory=directory,
        revision=revision(actual),
        source_revision=source_revision(actual),
        module=found[WASM],
        catalogue=entries,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
