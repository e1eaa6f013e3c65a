"""The book of one GPUQuota: the only way in which this process changes it.

Every change is made to what the API server holds, and written only if nobody wrote meanwhile (compare-and-swap on the
resource version); else it is made again to what is there then. So replicas need no leader and no lock. What waits at
the same time is written at once, so that a burst of jobs costs a few writes and not one each.
"""

import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from usher import errors

MOST_TOGETHER: Final = 64
"""Changes in one write: what is refused because of one of them is not to wait for a thousand others."""

ATTEMPTS: Final = 40
"""Writes that others may overtake in a row; a hundred replicas would not be enough to come to it."""

_SHORTEST_WAIT: Final = 0.002
_LONGEST_WAIT: Final = 0.2
"""Seconds after a write that another overtook, chosen at random, so that replicas do not keep in step."""

_State = TypeVar("_State")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[_State]):
    """What a book says, in the version in which it was read or written."""

    state: _State
    version: Any
    """As the shelf needs it to write; nobody else looks into it."""


class Shelf(Protocol[_State]):
    """Where pages are kept."""

    def read(self) -> Page[_State]:
        """The page as it is now. Raises ClusterError where it cannot be read, or is not there."""
        ...

    def write(self, page: Page[_State]) -> Page[_State] | None:
        """Writes a page; None where it has been written meanwhile by somebody else. Raises ClusterError."""
        ...


Change = Callable[[_State], tuple[_State, _Result]]
"""From a state to another and an answer; the same state where nothing is to be written. It may be made again."""


@dataclass(slots=True, kw_only=True)
class _Waiting(Generic[_State]):
    change: Change[_State, Any]
    until: float
    answer: "Future[Any]"


class Book(Generic[_State]):
    """Changes one GPUQuota, in a thread of its own that lives for as long as there is something to change."""

    def __init__(
        self,
        shelf: Shelf[_State],
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Takes where the page is, a clock in seconds, what waits, and numbers from 0 up to 1."""
        self._shelf = shelf
        self._clock = clock
        self._wait = wait
        self._chance = chance
        self._waiting: queue.SimpleQueue[_Waiting[_State]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._writing = False
        self._kept: Page[_State] | None = None
        """What was written last: nearly always still what is there, so that a change costs no read."""

    def change(self, change: Change[_State, _Result], *, within: float) -> "Future[_Result]":
        """Makes a change; its answer is there once it is written.

        The future raises ClusterError where it cannot be written within some seconds; then it may be written all the
        same, as after any answer that was lost, so that a change must be one that can be made twice.
        """
        answer: Future[_Result] = Future()
        self._waiting.put(_Waiting(change=change, until=self._clock() + within, answer=answer))
        with self._lock:
            if not self._writing:
                threading.Thread(target=self._write_all, name="quota book", daemon=True).start()
                self._writing = True
        return answer

    def _write_all(self) -> None:
        while True:
            together = self._next()
            if not together:
                with self._lock:
                    if self._waiting.empty():
                        self._writing = False
                        return
                continue
            try:
                self._write(together)
            except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, and the others must not wait for ever
                self._kept = None
                for each in together:
                    _fail(each, error)

    def _next(self) -> list[_Waiting[_State]]:
        together: list[_Waiting[_State]] = []
        while len(together) < MOST_TOGETHER:
            try:
                together.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return together

    def _write(self, together: Sequence[_Waiting[_State]]) -> None:
        for _ in range(ATTEMPTS):
            together = [each for each in together if not self._is_late(each)]
            if not together:
                return
            page, fresh = (self._kept, False) if self._kept is not None else (self._shelf.read(), True)
            state, answers = _made(together, page.state)
            if state == page.state and fresh:
                self._kept = page
                _answer(together, answers)
                return
            if state == page.state:
                # Nothing to write may mean a refusal, and none is given on what may be old.
                self._kept = None
                continue
            written = self._shelf.write(Page(state=state, version=page.version))
            self._kept = written
            if written is not None:
                _answer(together, answers)
                return
            self._wait(_SHORTEST_WAIT + (_LONGEST_WAIT - _SHORTEST_WAIT) * self._chance() ** 2)
        for each in together:
            _fail(each, errors.ClusterError(f"others wrote the quota {ATTEMPTS} times in a row before we could"))

    def _is_late(self, waiting: _Waiting[_State]) -> bool:
        late = self._clock() > waiting.until
        if late:
            _fail(waiting, errors.ClusterError("the quota could not be charged in time"))
        return late


_Outcome = tuple[Any, Exception | None]


def _made(together: Sequence[_Waiting[_State]], state: _State) -> tuple[_State, list[_Outcome]]:
    """The page after all changes, one after the other; one that fails changes nothing."""
    answers: list[_Outcome] = []
    for each in together:
        try:
            state, answer = each.change(state)
            answers.append((answer, None))
        except Exception as error:  # noqa: BLE001 - a change that is wrong must not undo the others
            answers.append((None, error))
    return state, answers


def _answer(together: Sequence[_Waiting[_State]], answers: Sequence[_Outcome]) -> None:
    for each, (answer, error) in zip(together, answers, strict=True):
        if error is not None:
            _fail(each, error)
        elif not each.answer.done():
            each.answer.set_result(answer)


def _fail(waiting: _Waiting[_State], error: Exception) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(error)
