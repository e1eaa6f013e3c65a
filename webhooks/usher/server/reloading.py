"""usher.yaml while the server runs: a change takes effect when it is good, and else the last good one stays."""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from usher import errors
from usher.dataclass import dataclass
from usher.policy.evaluator import Evaluator

GRACE: Final = 10.0
"""Seconds in which reviews that are under way may still end with the engine of before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a look at the file found."""

    reloaded: bool
    problem: errors.UsherError | None


class Current:
    """The evaluator in service."""

    def __init__(self, evaluator: Evaluator, *, file: Path | None, make: Callable[[], Evaluator]) -> None:
        """Takes the evaluator that was made of the file, and what makes another of it as it is then."""
        self.evaluator = evaluator
        self.problem: errors.UsherError | None = None
        self._file = file
        self._make = make
        self._digest = self._look()

    async def watch(self, interval: float, *, report: Callable[[Looked], None]) -> None:
        """Looks every `interval` seconds until cancelled; `report` gets each change, good or bad, once."""
        while self._file is not None:
            await asyncio.sleep(interval)
            # A file system that hangs must not hold up the answers.
            digest = await asyncio.to_thread(self._look)
            if digest != self._digest:
                self._digest = digest
                report(await self._reload())

    async def _reload(self) -> Looked:
        before = self.evaluator
        try:
            made = await asyncio.to_thread(self._make)
        except errors.UsherError as problem:
            self.problem = problem
            return Looked(reloaded=False, problem=problem)
        self.evaluator, self.problem = made, None
        asyncio.get_running_loop().call_later(GRACE, before.engine.close)
        return Looked(reloaded=True, problem=None)

    def _look(self) -> bytes:
        """A digest of the file; of one that cannot be read an empty one, which differs from any."""
        if self._file is None:
            return b""
        with contextlib.suppress(OSError):
            return hashlib.sha256(self._file.read_bytes()).digest()
        return b""
