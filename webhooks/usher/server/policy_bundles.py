"""Loads the policies of a site for a server: all bundles together, and again when one of them changes."""

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from usher import errors
from usher.check import site_policies
from usher.dataclass import dataclass
from usher.extensions import given_policies, policy_archive
from usher.extensions.gatekeeper import library
from usher.extensions.gatekeeper.evaluation import Policies
from usher.policy.checks.catalogue import OwnChecks

NOT_FOLLOWED: Final = (
    "its rules compare with other objects (data.inventory), and a server does not follow the cluster for them; "
    "usher check and usher audit evaluate it"
)
DEADLINE: Final = 0.5
"""Seconds for one constraint and one object."""
MEMORY_LIMIT: Final = 64 * 2**20
"""Bytes of one policy in one thread: ten times the largest object that an API server takes."""
REBUILD_ABOVE: Final = 2**20
"""Bytes that a policy may keep from one object to the next: there may be many policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The policies of all bundles at one time."""

    own: tuple[OwnChecks, ...] = ()
    policies: Policies | None = None
    """The started policies of Gatekeeper; None without any."""

    def close(self) -> None:
        if self.policies is not None:
            self.policies.close()


NOTHING: Final = Loaded()


class Bundles:
    """The bundles that a server was started with, by their files."""

    def __init__(self, files: Sequence[str], *, verify_key: Path | None) -> None:
        self._files = tuple(files)
        self._key = verify_key

    def digest(self) -> bytes:
        """The digest of all files. It changes with any of them; an unreadable file counts as empty."""
        found = hashlib.sha256()
        for file in (*map(Path, self._files), *([self._key] if self._key is not None else [])):
            content = b""
            with contextlib.suppress(OSError, ValueError):
                content = file.read_bytes()
            found.update(hashlib.sha256(content).digest())
        return found.digest()

    def load(self) -> Loaded:
        """The current policies. The caller closes them.

        Raises:
            InputError: a file cannot be read, is not a complete bundle, lacks the required signature, or holds content
                that this usher does not support; or two bundles define the same thing.
        """
        given = self._given()
        own = given_policies.own_checks(given, compiler=_no_compiler)
        return Loaded(own=tuple(own), policies=_started(_library(given)))

    def library(self) -> library.Library | None:
        """The current templates and constraints; None without any. Raises as `load` does."""
        return _library(self._given())

    def _given(self) -> given_policies.Given:
        key = policy_archive.public_key(self._key) if self._key is not None else None
        for file in self._files:
            _require_bundle(file)
        given = given_policies.divided(self._files, key=key)
        # A file may have changed since the look above.
        if others := [*given.files, *map(str, given.own_folders)]:
            raise _not_a_bundle(others[0])
        return given


def _library(given: given_policies.Given) -> library.Library | None:
    return site_policies.read_library(given, compiler=_no_compiler) if given.of_gatekeeper else None


def _started(found: library.Library | None) -> Policies | None:
    if found is None:
        return None
    return Policies(
        library.without_inventory(found, reason=NOT_FOLLOWED),
        deadline=DEADLINE,
        memory_limit=MEMORY_LIMIT,
        rebuild_above=REBUILD_ABOVE,
    )


def _require_bundle(file: str) -> None:
    try:
        with Path(file).open("rb") as stream:
            start = stream.read(4)
    except IsADirectoryError:
        raise _not_a_bundle(file) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise errors.InputError(f"{file}: the bundle cannot be read: {reason[:1].lower()}{reason[1:]}") from None
    if not policy_archive.is_archive(start):
        raise _not_a_bundle(file)


def _not_a_bundle(source: str) -> errors.InputError:
    return errors.InputError(
        f"{source}: is not a bundle, and a server takes bundles alone; build one from the sources with "
        f"`usher policies build SOURCES --output policies.bundle`"
    )


def _no_compiler() -> NoReturn:
    raise errors.InputError("a server compiles no policies; give it bundles of `usher policies build`")
