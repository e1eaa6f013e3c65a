"""Reloads usher.yaml and policy bundles while the server runs. A good change takes effect; after a bad one the last
good state stays.

It reads bundles before usher.yaml, which may name checks from them. An unusable bundle does not hold back a change of
usher.yaml, and both always fit together.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

import orjson
from msgspec import Struct

from usher import errors
from usher.check import site_policies
from usher.extensions import policy_archive
from usher.extensions.gatekeeper import library
from usher.extensions.gatekeeper.evaluation import Policies
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.evaluator import Evaluator

NOT_FOLLOWED: Final = (
    "its rules compare with other objects (data.inventory), and a server does not follow the cluster for them; "
    "usher check and usher audit evaluate it"
)
POLICY_DEADLINE: Final = 0.5
"""Seconds for one constraint and one object."""
POLICY_MEMORY_LIMIT: Final = 64 * 2**20
"""Bytes of one policy in one thread: ten times the largest object that an API server takes."""
REBUILD_ABOVE: Final = 2**20
"""Bytes that a policy may keep from one object to the next: there may be many policies."""


class LoadedPolicies(Struct, frozen=True, kw_only=True):
    """The policies of all bundles at one time."""

    own: tuple[OwnChecks, ...] = ()
    policies: Policies | None = None
    """The started policies of Gatekeeper; None without any."""

    def close(self) -> None:
        if self.policies is not None:
            self.policies.close()


NOTHING_LOADED: Final = LoadedPolicies()


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

    def load(self) -> LoadedPolicies:
        """The current policies. The caller closes them.

        Raises:
            InputError: a file cannot be read, is not a complete bundle, lacks the required signature, or holds content
                that this usher does not support; or two bundles define the same thing.
        """
        given = self._read_policies()
        own = site_policies.own_checks(given, compiler=_no_compiler)
        return LoadedPolicies(own=tuple(own), policies=_start_policies(_library(given)))

    def library(self) -> library.Library | None:
        """The current templates and constraints; None without any. Raises as `load` does."""
        return _library(self._read_policies())

    def _read_policies(self) -> site_policies.Given:
        key = policy_archive.public_key(self._key) if self._key is not None else None
        for file in self._files:
            _require_bundle(file)
        given = site_policies.divided(self._files, key=key)
        # A file may have changed since the look above.
        if others := [*given.files, *map(str, given.own_folders)]:
            raise _not_a_bundle(others[0])
        return given


def _library(given: site_policies.Given) -> library.Library | None:
    return site_policies.read_library(given, compiler=_no_compiler) if given.of_gatekeeper else None


def _start_policies(found: library.Library | None) -> Policies | None:
    if found is None:
        return None
    return Policies(
        library.without_inventory(found, reason=NOT_FOLLOWED),
        deadline=POLICY_DEADLINE,
        memory_limit=POLICY_MEMORY_LIMIT,
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


GRACE: Final = 10.0
"""Seconds in which running reviews may still end with the former engine."""

_SHOWN: Final = 16
"""Characters of a digest in metrics."""

MakeEvaluator = Callable[[Sequence[OwnChecks]], Evaluator]
"""Makes an evaluator from the present usher.yaml, with the site's own checks."""


class Looked(Struct, frozen=True, kw_only=True):
    """The result of a look at the files."""

    reloaded: bool
    problem: errors.UsherError | None
    policies: errors.UsherError | None = None
    """Why the policy bundles cannot be used. The last good ones stay."""


class Current:
    """The evaluator and the policies of the site in service."""

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        file: Path | None,
        make: MakeEvaluator,
        bundles: Bundles | None = None,
        loaded: LoadedPolicies = NOTHING_LOADED,
    ) -> None:
        """Takes the evaluator and the policies in service.

        Args:
            evaluator: made from the file and the loaded own checks.
            file: usher.yaml, if there is one.
            make: makes another evaluator from the file at that time.
            bundles: the bundles of policies, if there are any.
            loaded: the content of the bundles.
        """
        self.evaluator = evaluator
        self.problem: errors.UsherError | None = None
        self._file = file
        self._make = make
        self._bundles = bundles
        self._loaded = loaded
        self.policies: Policies | None = loaded.policies
        """The policies of Gatekeeper; None without any."""
        self._digest = self._look()
        self._in_service = self._digest[1]
        """The digest of the loaded bundles. After any change, usher tries other bundles again."""

    @property
    def own_checks(self) -> int:
        """The number of own checks of the site."""
        return sum(len(each.entries) for each in self._loaded.own)

    @property
    def bundles_in_service(self) -> bool:
        """Whether the present bundles are the ones in service."""
        return self._digest[1] == self._in_service

    @property
    def digests(self) -> tuple[str, str]:
        """Digests of the configuration and of the bundles in force; empty without bundles. Comments do not count."""
        config = self.evaluator.config.model_dump(mode="json", by_alias=True)
        of_config = hashlib.sha256(orjson.dumps(config, option=orjson.OPT_SORT_KEYS)).hexdigest()
        return of_config[:_SHOWN], self._in_service.hex()[:_SHOWN]

    def close(self) -> None:
        self.evaluator.engine.close()
        self._loaded.close()

    async def watch(self, interval: float, *, report: Callable[[Looked], None]) -> None:
        """Looks every `interval` seconds until cancelled; `report` gets each change, good or bad, once."""
        while self._file is not None or self._bundles is not None:
            await asyncio.sleep(interval)
            # A file system that hangs must not delay answers.
            digest = await asyncio.to_thread(self._look)
            if digest != self._digest:
                self._digest = digest
                report(await self._reload())

    async def _reload(self) -> Looked:
        loaded, of_policies, in_service = self._loaded, None, self._in_service
        if self._bundles is not None and self._digest[1] != in_service:
            try:
                loaded = await asyncio.to_thread(self._bundles.load)
                in_service = self._digest[1]
            except errors.UsherError as problem:
                of_policies = problem
        try:
            made = await asyncio.to_thread(self._make, loaded.own)
        except errors.UsherError as problem:
            self.problem = problem
            if loaded is not self._loaded:
                loaded.close()
            return Looked(reloaded=False, problem=problem, policies=of_policies)
        before, before_loaded = self.evaluator, self._loaded
        self.evaluator, self.policies, self._loaded, self.problem = made, loaded.policies, loaded, None
        self._in_service = in_service
        later = asyncio.get_running_loop().call_later
        later(GRACE, before.engine.close)
        if loaded is not before_loaded:
            later(GRACE, before_loaded.close)
        return Looked(reloaded=True, problem=None, policies=of_policies)

    def _look(self) -> tuple[bytes, bytes]:
        """Digests of usher.yaml and of the bundles. An unreadable file has an empty digest, as if there
        were no file.
        """
        bundles = b"" if self._bundles is None else self._bundles.digest()
        if self._file is not None:
            with contextlib.suppress(OSError):
                return hashlib.sha256(self._file.read_bytes()).digest(), bundles
        return b"", bundles
