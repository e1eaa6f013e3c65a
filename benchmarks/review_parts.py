"""Measures what the parts of a review take, in this process: from the bytes of a review to its log and metrics."""

import contextlib
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, ParamSpec, TypeVar
from unittest import mock

import structlog

import fresh
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.policy.input.document import Documents
from usher.review import webhooks
from usher.server import logs
from usher.server.metrics import Metrics

SECOND: Final = "second judgement"
REST: Final = "rest of usher"
PARTS: Final = ("parse", "reading", "document", "engine", SECOND, REST, "log", "metrics")
ROUNDS: Final = 3
_PHASES: Final = {"queued": 0.0, "read": 0.0, "decided": 0.0}

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Clock:
    """The processor time of this thread, by the part that runs. What a second judgement calls belongs to it."""

    def __init__(self) -> None:
        self.taken = Counter[str]()
        self._now, self._since = "", time.thread_time_ns()

    def within(self, part: str, call: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        def timed(*arguments: _Given.args, **named: _Given.kwargs) -> _Result:
            before = self._now
            if before == SECOND:
                return call(*arguments, **named)
            self._begin(part)
            try:
                return call(*arguments, **named)
            finally:
                self._begin(before)

        return timed

    def _begin(self, part: str) -> None:
        now = time.thread_time_ns()
        self.taken[self._now] += now - self._since
        self._now, self._since = part, now


def measured(file: str, path: str, bodies: Sequence[bytes], *, remembered: bool) -> dict[str, float]:
    """Milliseconds of each part for a review, in the round that took least."""
    with _log_to_nobody():
        runs = [_round(file, path, bodies, remembered=remembered) for _ in range(ROUNDS)]
    return min(runs, key=lambda parts: sum(parts.values()))


def _round(file: str, path: str, bodies: Sequence[bytes], *, remembered: bool) -> dict[str, float]:
    evaluator, metrics = assembly.embedded(fresh.configuration(file)), Metrics(engine="embedded", revision="")
    answer = fresh.ANSWERS[path]

    def review(body: bytes) -> None:
        answered = answer(body, evaluator)
        logs.decision(path[1:], answered, seconds=0.001, phases=_PHASES)
        metrics.answered(path[1:], answered, seconds=0.001, queued=0)

    for body in [*bodies, *bodies] if remembered else bodies[: fresh.WARM]:
        review(body)
    left = bodies if remembered else bodies[fresh.WARM :]
    clock = Clock()
    with _parts(clock, evaluator):
        timed = clock.within(REST, review)
        for body in left:
            timed(body)
    evaluator.engine.close()
    return {part: clock.taken[part] / len(left) / 1e6 for part in PARTS}


@contextlib.contextmanager
def _parts(clock: Clock, evaluator: Evaluator) -> Iterator[None]:
    """Counts the functions of each part while the context lasts."""
    places: list[tuple[str, object, str]] = [
        ("parse", webhooks, "parse"),
        ("reading", Evaluator, "_key"),
        ("reading", Evaluator, "_read_workload"),
        ("document", Documents, "build"),
        ("engine", type(evaluator.engine), "evaluate"),
        (SECOND, webhooks, "forgive_missed_mutations"),
        ("log", logs, "decision"),
        ("metrics", Metrics, "answered"),
    ]
    with contextlib.ExitStack() as stack:
        for part, owner, name in places:
            stack.enter_context(mock.patch.object(owner, name, clock.within(part, getattr(owner, name))))
        yield


@contextlib.contextmanager
def _log_to_nobody() -> Iterator[None]:
    root = logging.getLogger()
    with (
        Path(os.devnull).open("w") as nobody,
        mock.patch.object(root, "handlers", root.handlers),
        mock.patch.object(root, "level", root.level),
        mock.patch.object(logging, "raiseExceptions", False),
        mock.patch.object(logs, "_LOGGER", structlog.get_logger()),
    ):
        logs.configure(stream=nobody)
        yield
