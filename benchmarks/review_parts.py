"""`usher` that also counts what the parts of its reviews take: review_parts.py FILE ARGUMENTS.

After SIGUSR1 it writes into FILE, as JSON, the seconds of processor time of each part so far, and those of the process.
"""

import contextlib
import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, ParamSpec, TypeVar
from unittest import mock

from usher.cli.main import main
from usher.policy.engines.engine import CachedEngine
from usher.policy.evaluator import Evaluator
from usher.policy.input.document import Documents
from usher.review import webhooks
from usher.server import logs
from usher.server.metrics import Metrics

SECOND: Final = "second judgement"
REST: Final = "rest of usher"
PARTS: Final = ("parse", "reading", "document", "engine", SECOND, REST, "log", "metrics")
OUTSIDE: Final = "TLS and HTTP"
"""The rest of the process."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Clock:
    """The processor time of the thread that reviews, by the part that runs.

    What a second judgement calls belongs to it.
    """

    def __init__(self) -> None:
        self.taken: dict[str, float] = defaultdict(float)
        self._now, self._since = "", time.thread_time()

    def within(self, part: str, call: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        """The function, whose time counts for a part except for what it calls of other parts."""

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
        now = time.thread_time()
        self.taken[self._now] += now - self._since
        self._now, self._since = part, now

    def parts(self) -> dict[str, float]:
        """The seconds of each part, and of the process outside of them."""
        found = {part: self.taken[part] for part in PARTS}
        return {**found, OUTSIDE: time.process_time() - sum(found.values())}


@contextlib.contextmanager
def counting(clock: Clock) -> Iterator[None]:
    """Counts the functions of each part while the context lasts."""
    places: list[tuple[str, object, str]] = [
        (REST, webhooks, "validate"),
        (REST, webhooks, "mutate"),
        ("parse", webhooks, "parse"),
        ("reading", Evaluator, "_key"),
        ("reading", Evaluator, "_read_workload"),
        ("document", Documents, "build"),
        ("engine", CachedEngine, "evaluate"),
        (SECOND, webhooks, "forgive_missed_mutations"),
        ("log", logs, "decision"),
        ("metrics", Metrics, "answered"),
    ]
    with contextlib.ExitStack() as stack:
        for part, owner, name in places:
            stack.enter_context(mock.patch.object(owner, name, clock.within(part, getattr(owner, name))))
        endpoints: Mapping[str, object] = {"/validate": webhooks.validate, "/mutate": webhooks.mutate}
        stack.enter_context(mock.patch.dict("usher.server.reviews._ENDPOINTS", endpoints))
        yield


def serve(file: Path) -> None:
    clock = Clock()

    def write(_number: int, _frame: object) -> None:
        written = file.with_suffix(".new")
        written.write_text(json.dumps(clock.parts()))
        written.rename(file)

    signal.signal(signal.SIGUSR1, write)
    with counting(clock):
        main()


if __name__ == "__main__":
    serve(Path(sys.argv.pop(1)))
