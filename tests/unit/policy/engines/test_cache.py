"""Remembering answers."""

import sys

import pytest

from usher import errors, paths
from usher.policy.engines.engine import ALL_CHECKS, LARGEST, CachedEngine, Entrypoint


class CountingEngine:
    """Answers with the number of the call; fails on request."""

    name = "counting"
    waits = False

    def __init__(self) -> None:
        self.calls = 0
        self.closed = False

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        self.calls += 1
        if document == b"fail":
            raise errors.EngineError(f"call {self.calls} of {entrypoint}")
        return {"version": 1, "call": self.calls, **({"leftOut": left_out.hex()} if left_out else {})}

    def ready(self) -> None:
        """Always."""

    def close(self) -> None:
        self.closed = True


def test_the_same_document_is_evaluated_once() -> None:
    engine = CountingEngine()
    cached = CachedEngine(engine)

    answers = [cached.evaluate(Entrypoint.FINDINGS, b"{}") for _ in range(3)]

    assert answers == [{"version": 1, "call": 1}] * 3


def test_the_cache_distinguishes_documents_and_entry_points() -> None:
    engine = CountingEngine()
    cached = CachedEngine(engine)

    for entrypoint in Entrypoint:
        for document in (b"{}", b"[]"):
            cached.evaluate(entrypoint, document)

    assert engine.calls == 2 * len(Entrypoint)


def test_the_cache_distinguishes_the_checks_that_are_left_out() -> None:
    cached = CachedEngine(CountingEngine())

    answers = [cached.evaluate(Entrypoint.FINDINGS, b"{}", table) for table in (b"", b"\1", b"\1", b"")]

    assert [answer.get("leftOut", "") for answer in answers] == ["", "01", "01", ""]
    assert [answer["call"] for answer in answers] == [1, 2, 2, 1]


def test_an_error_is_not_remembered() -> None:
    engine = CountingEngine()
    cached = CachedEngine(engine)

    for _ in range(2):
        with pytest.raises(errors.EngineError):
            cached.evaluate(Entrypoint.FINDINGS, b"fail")

    assert engine.calls == 2


def test_a_large_document_is_not_kept() -> None:
    engine = CountingEngine()
    cached = CachedEngine(engine)

    for _ in range(2):
        cached.evaluate(Entrypoint.FINDINGS, b" " * (LARGEST + 1))

    assert engine.calls == 2


def test_closing_closes_the_engine() -> None:
    engine = CountingEngine()
    CachedEngine(engine).close()

    assert engine.closed


def test_the_cache_keeps_no_documents() -> None:
    """Each would lie in a buffer of several times its length."""
    cached = CachedEngine(CountingEngine())
    document = bytes(LARGEST)
    before = sys.getrefcount(document)

    cached.evaluate(Entrypoint.FINDINGS, document)

    assert sys.getrefcount(document) == before
