"""The interface of a policy engine, and engines that remember answers or ask own checks as well.

Each set of own checks is a separate module in a separate sandbox: if one fails, usher's findings stay. Its result is
checked, because it may come from a bundle.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Final, Protocol

import orjson
from msgspec import Struct

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


ALL_CHECKS: Final = b""
"""The table of checks or mutations to leave out, where an engine evaluates all."""


class Engine(Protocol):
    """Evaluates an entry point of the bundle. Threads must not share an engine unless it allows that."""

    @property
    def name(self) -> str: ...

    @property
    def waits(self) -> bool:
        """Whether an evaluation waits for another process; then an event loop must run it in a thread."""
        ...

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        """The result object of an entry point for an input document (JSON).

        Args:
            left_out: as `catalogue.table_of_numbers`, checks or mutations whose findings or intents the caller drops.
                An engine need not evaluate them, and may.

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


def parse_answer(text: bytes, *, entrypoint: str) -> object:
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

    It keeps digests and not the documents, and answers as JSON: their values would take most of the memory.
    """

    def __init__(self, engine: Engine, *, entries: int = ENTRIES) -> None:
        self._engine = engine
        self._answers: Memo[tuple[Entrypoint, bytes, bytes], bytes] = Memo(entries, at_once=True)

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def waits(self) -> bool:
        return self._engine.waits

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        """The result of the engine. Errors are not kept."""
        if len(document) > LARGEST:
            return self._engine.evaluate(entrypoint, document, left_out)
        made = list[paths.Object]()

        def make() -> bytes:
            made.append(self._engine.evaluate(entrypoint, document, left_out))
            # A text of orjson lies in a buffer of up to 16 times its length.
            return bytes(memoryview(orjson.dumps(made[0])))

        text = self._answers.get((entrypoint, left_out, memo.digest(document)), make)
        result: paths.Object = made[0] if made else orjson.loads(text)
        return result

    def ready(self) -> None:
        self._engine.ready()

    def close(self) -> None:
        self._answers.clear()
        self._engine.close()


ANSWER_UNTIL: Final[ContextVar[float]] = ContextVar("usher-until", default=float("inf"))
"""A time of `time.monotonic`, in seconds. A thread that works for a review gets the context of that review."""


@contextmanager
def share_deadline(part: float) -> Iterator[None]:
    """Lets evaluations inside take at most this part of the time that the review has left."""
    until, now = ANSWER_UNTIL.get(), time.monotonic()
    token = ANSWER_UNTIL.set(now + max(0.0, until - now) * part)
    try:
        yield
    finally:
        ANSWER_UNTIL.reset(token)


LONGEST_TEXT: Final = 10_000
"""Characters of a message; the rest is cut."""
_PART: Final = 0.5
"""Share of a review's remaining time for all own checks, so that they never delay usher's verdict."""
_LISTS: Final = (("findings", "finding"), ("unknown", "unknown"))


class OwnChecksEngine(Struct, frozen=True, kw_only=True):
    source: str
    keys: frozenset[str]
    """The keys of its checks."""
    engine: Engine


class TogetherEngine:
    """Adds the findings of own checks to those of an engine, which answers all other questions alone."""

    def __init__(self, ours: Engine, beside: Sequence[OwnChecksEngine]) -> None:
        self._ours = ours
        self._beside = tuple(beside)

    @property
    def name(self) -> str:
        return self._ours.name

    @property
    def waits(self) -> bool:
        return self._ours.waits

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        """The result of both. If own checks fail, the result has an unknown: a part of the object was not judged.

        Raises:
            EngineError: usher's own checks failed.
        """
        result = self._ours.evaluate(entrypoint, document, left_out)
        if entrypoint is not Entrypoint.FINDINGS:
            return result
        with share_deadline(_PART):
            parts = [result, *(_ask_own_checks(each, document) for each in self._beside)]
        return {**result, **{name: [entry for part in parts for entry in _list_of(part, name)] for name, _ in _LISTS}}

    def ready(self) -> None:
        self._ours.ready()

    def close(self) -> None:
        self._ours.close()
        for each in self._beside:
            each.engine.close()


def _ask_own_checks(beside: OwnChecksEngine, document: bytes) -> paths.Object:
    try:
        result = beside.engine.evaluate(Entrypoint.FINDINGS, document)
        return {name: list(_checked_entries(result, name, inner, beside)) for name, inner in _LISTS}
    except errors.EngineError as error:
        # An unknown without a check counts as a part that was not judged, so the run does not pass.
        return {
            "unknown": [
                {"check": "", "unknown": {"path": paths.ROOT, "reason": f"own checks of {beside.source}: {error}"}}
            ]
        }


def _checked_entries(result: paths.Object, name: str, inner: str, beside: OwnChecksEngine) -> Iterator[paths.Json]:
    for entry in _list_of(result, name):
        check, found = (entry.get("check"), entry.get(inner)) if isinstance(entry, dict) else (None, None)
        if not isinstance(check, str) or check not in beside.keys or not isinstance(found, dict):
            raise errors.EngineError(f"an entry in {name} is not one of a check of these")
        path = found.get("path")
        if not isinstance(path, str) or (path and not path.startswith("/")):
            raise errors.EngineError(f"{check}: the path of a {inner} is not a JSON Pointer: {path!s:.100}")
        for field, text in found.items():
            if not isinstance(text, str):
                raise errors.EngineError(f"{check}: {field:.100} of a {inner} is not a text")
        required = "message" if inner == "finding" else "reason"
        if required not in found:
            raise errors.EngineError(f"{check}: a {inner} has no {required}")
        yield {"check": check, inner: {field: str(text)[:LONGEST_TEXT] for field, text in found.items()}}


def _list_of(result: paths.Object, name: str) -> list[paths.Json]:
    found = result.get(name, [])
    if not isinstance(found, list):
        raise errors.EngineError(f"the policy engine's result has no list of {name}")
    return found
