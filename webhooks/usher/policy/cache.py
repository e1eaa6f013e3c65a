"""Remembers the answers of an engine: the thousand pods of one job ask the same question.

The key is the engine's whole input, and a result depends on nothing else, so that a remembered answer is the answer.
Only for an engine whose policies cannot change while it lives.
"""

from functools import lru_cache
from typing import Final

from usher import paths
from usher.policy.engine import Engine, Entrypoint

ENTRIES: Final = 1024
LARGEST: Final = 8192
"""Bytes of a document that is worth keeping; together with ENTRIES it bounds the memory to some 16 MB."""


class CachedEngine:
    """An engine that evaluates each document once, as long as it is remembered."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._evaluate = lru_cache(maxsize=ENTRIES)(engine.evaluate)

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def waits(self) -> bool:
        return self._engine.waits

    def evaluate(self, entrypoint: Entrypoint, document: bytes) -> paths.Object:
        """The result of the engine, not to be changed by whoever gets it; errors are not remembered."""
        if len(document) > LARGEST:
            return self._engine.evaluate(entrypoint, document)
        return self._evaluate(entrypoint, document)

    def ready(self) -> None:
        self._engine.ready()

    def close(self) -> None:
        self._evaluate.cache_clear()
        self._engine.close()
