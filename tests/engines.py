"""Engines that do what no policy of ours does, where a test needs just that."""

from collections.abc import Callable, Sequence

from usher import paths
from usher.config import models
from usher.policy.checks import catalogue
from usher.policy.engines.engine import ALL_CHECKS, RESULT_VERSION, Entrypoint
from usher.policy.evaluator import Evaluator


class ScriptedEngine:
    """Answers with what a function gives, or raises what it raises."""

    name = "scripted"

    def __init__(self, answer: Callable[[Entrypoint], paths.Object], *, waits: bool = False) -> None:
        self._answer = answer
        self.waits = waits
        self.closed = False

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:  # noqa: ARG002 - the protocol's
        return self._answer(entrypoint)

    def ready(self) -> None:
        """Always."""

    def close(self) -> None:
        self.closed = True


def result(**entries: Sequence[paths.Json]) -> paths.Object:
    """A result of any entry point; a list that is not given is empty."""
    lists = {name: [*entries.get(name, ())] for name in ("findings", "unknown", "intents", "warnings", "skips")}
    return {"version": RESULT_VERSION, **lists}


def evaluator(engine: ScriptedEngine, *, config: models.Config | None = None) -> Evaluator:
    """An evaluator with this engine and the packaged catalogue."""
    return Evaluator(engine=engine, entries=catalogue.load().catalogue, config=config or models.Config())
