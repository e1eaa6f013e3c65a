"""The interface of a policy engine, and an engine that remembers its answers."""

from enum import StrEnum
from typing import Final, Protocol

import orjson

from usher import errors, memo, paths
from usher.memo import Memo

RESULT_VERSION: Final = 1
"""The version in every result. All entry points return an object with it, so "undefined" never reads as "allowed"."""

DEFAULT_DEADLINE = 1.0
"""Seconds. A webhook call may take 3 s (validate) or 1 s (mutate); a healthy evaluation takes well under 1 ms."""


class Entrypoint(StrEnum):
    """The rules that an engine can evaluate; no input can name another."""

    FINDINGS = "usher/main/findings"
    INTENTS = "usher/main/intents"
    SKIPS = "usher/main/skips"
    """Why mutations skip an object or a part of it; `usher explain` asks this, a review never does."""


class Engine(Protocol):
    """Evaluates an entry point of the bundle. Threads must not share an engine unless it allows that."""

    @property
    def name(self) -> str: ...

    @property
    def waits(self) -> bool:
        """Whether an evaluation waits for another process; then an event loop must run it in a thread."""
        ...

    def evaluate(self, entrypoint: Entrypoint, document: bytes) -> paths.Object:
        """The result object of an entry point for an input document (JSON).

        Raises:
            EngineError: the engine failed, or its answer is not a result of our policies.
            DeadlineError: it took too long.
        """
        ...

    def ready(self) -> None:
        """Returns if the engine can evaluate our policies now.

        Raises:
            EngineError: the engine cannot be reached, has no policies, or has another revision of them.
        """
        ...

    def close(self) -> None: ...


def checked_result(value: object, *, entrypoint: str) -> paths.Object:
    """The value, if it is a result object of the supported version.

    Raises:
        EngineError: the bundle is of another version of usher, or the entry point is undefined.
    """
    if not isinstance(value, dict):
        raise errors.EngineError(f"entry point {entrypoint}: the policy engine answered with no object")
    if value.get("version") != RESULT_VERSION:
        raise errors.EngineError(
            f"entry point {entrypoint}: the result has version {value.get('version')!r}, expected {RESULT_VERSION}; "
            "the policies were built for another version of usher"
        )
    return value


def parsed(text: bytes, *, entrypoint: str) -> object:
    """The JSON value of an engine's answer.

    Raises:
        EngineError: the answer is not JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise errors.EngineError(f"entry point {entrypoint}: the policy engine's answer is not JSON: {error}") from None


ENTRIES: Final = 1024
LARGEST: Final = 8192
"""Bytes of the largest document whose answer is kept; an answer has about as many."""


class CachedEngine:
    """Remembers the answers of an engine for documents of up to LARGEST bytes.

    It keeps digests and not the documents, which would take most of the memory.
    """

    def __init__(self, engine: Engine, *, entries: int = ENTRIES) -> None:
        self._engine = engine
        self._answers: Memo[tuple[Entrypoint, bytes], paths.Object] = Memo(entries, at_once=True)

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def waits(self) -> bool:
        return self._engine.waits

    def evaluate(self, entrypoint: Entrypoint, document: bytes) -> paths.Object:
        """The result of the engine. Callers must not change it, because it is kept; errors are not kept."""
        if len(document) > LARGEST:
            return self._engine.evaluate(entrypoint, document)
        key = entrypoint, memo.digest(document)
        return self._answers.get(key, lambda: self._engine.evaluate(entrypoint, document))

    def ready(self) -> None:
        self._engine.ready()

    def close(self) -> None:
        self._answers.clear()
        self._engine.close()
