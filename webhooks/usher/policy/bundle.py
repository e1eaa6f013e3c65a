"""The policies on disk: where they are, and proof that they belong together.

In an installed package they are in `usher/_policies`, in a checkout in `policies/`; nothing else knows.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
import pydantic

from usher import errors
from usher.policy import catalogue

MANIFEST = "bundle.json"
WASM = "policy.wasm"
CATALOGUE = "catalogue.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A verified bundle."""

    directory: Path
    revision: str
    """Digest over all files, which changes with every change of a policy."""
    module: bytes
    catalogue: catalogue.Catalogue


def sources(directory: Path) -> list[Path]:
    """The Rego files that are compiled; tests are not."""
    return sorted(path for path in directory.rglob("*.rego") if not path.name.endswith("_test.rego"))


def digests(directory: Path) -> dict[str, str]:
    """SHA-256 of every file that the bundle consists of, by path relative to it."""
    files = [*sources(directory), directory / CATALOGUE, directory / WASM]
    return {path.relative_to(directory).as_posix(): _sha256(path.read_bytes()) for path in files}


def revision(file_digests: Mapping[str, str]) -> str:
    return _sha256("\n".join(f"{path} {digest}" for path, digest in sorted(file_digests.items())).encode())[:16]


def find() -> Path:
    """The directory of the packaged policies, or of the checkout's.

    Raises:
        BundleError: there is neither.
    """
    package = Path(__file__).resolve().parents[1]
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
        expected = manifest["files"]
        actual = digests(directory)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise errors.BundleError(f"{directory}: the policy bundle cannot be read: {error}") from None
    for path in sorted({*expected, *actual}):
        if expected.get(path) != actual.get(path):
            raise errors.BundleError(
                f"{directory / path}: not the file that {WASM} was built from and tested with; "
                "run scripts/policies, or install gpu-usher again"
            )
    try:
        entries = catalogue.parse((directory / CATALOGUE).read_bytes())
    except (pydantic.ValidationError, KeyError) as error:
        raise errors.BundleError(f"{directory / CATALOGUE}: {error}") from None
    return Bundle(
        directory=directory, revision=revision(actual), module=(directory / WASM).read_bytes(), catalogue=entries
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
