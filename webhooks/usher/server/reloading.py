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
from typing import Final

from usher import errors
from usher.dataclass import dataclass
from usher.extensions.gatekeeper.evaluation import Policies
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.evaluator import Evaluator
from usher.server import policy_bundles
from usher.server.policy_bundles import Bundles, Loaded

GRACE: Final = 10.0
"""Seconds in which running reviews may still end with the former engine."""

Make = Callable[[Sequence[OwnChecks]], Evaluator]
"""Makes an evaluator from the present usher.yaml, with the site's own checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
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
        make: Make,
        bundles: Bundles | None = None,
        loaded: Loaded = policy_bundles.NOTHING,
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
