"""Judges the files of a run in several processes. Each reads and judges its part, and the first merges the results."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from usher import errors
from usher.dataclass import dataclass
from usher.policy.evaluator import Evaluator
from usher.scan import sources
from usher.scan.judging import Settings
from usher.scan.part import Part
from usher.scan.runner import Watch, unwatched
from usher.scan.share import Share

# A run in one process without a cache needs neither of these imports.
if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from usher.scan.verdicts import Verdicts

_Sent = TypeVar("_Sent")
Make = Callable[[], Evaluator]
"""Makes an evaluator, because an engine does not survive a fork."""
Remember = Callable[[Evaluator], "AbstractContextManager[Verdicts | None]"]
"""Opens the remembered verdicts for an evaluator."""

FILES_PER_PROCESS: Final = 100
"""Starting a process takes about as long as judging this many files."""


def default_number(files: int) -> int:
    """The best number of processes for that many files: at most one for each processor."""
    if sys.platform != "linux":  # on other systems, libraries may not survive a fork
        return 1
    return max(1, min(len(os.sched_getaffinity(0)), files // FILES_PER_PROCESS))


@dataclass(frozen=True, slots=True)
class _Failed:
    """An error of another process, as text because not every exception can be sent."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Worker:
    process: "BaseProcess"
    connection: "Connection"

    def received(self, kind: type[_Sent]) -> _Sent:
        try:
            found = self.connection.recv()
        except EOFError:
            self.process.join(1)
            code = self.process.exitcode
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            raise errors.WorkerError(
                f"a process of this run ended before its files were judged ({how}); try --jobs 1, or fewer files"
            ) from None
        if isinstance(found, _Failed):
            raise errors.WorkerError(found.reason)
        if not isinstance(found, kind):
            raise errors.WorkerError(f"a process of this run sent {type(found).__name__}, not {kind.__name__}")
        return found


class Run:
    """The share of this process, and the processes with the other shares, which wait until `judge` is called."""

    def __init__(
        self, own: Sequence[sources.Found], workers: Sequence[_Worker], settings: Settings, remember: Remember
    ) -> None:
        self._own = own
        self._workers = workers
        self._settings = settings
        self._remember = remember

    def judge(self, evaluator: Evaluator, *, watch: Watch = unwatched) -> Part:
        """The results of all files in their order; reports the progress to `watch`.

        Raises:
            UsherError: a process failed.
        """
        with self._remember(evaluator) as verdicts:
            share = Share(self._own, evaluator=evaluator, settings=self._settings, verdicts=verdicts)
            parts = [share.outlines, *(worker.received(list) for worker in self._workers)]
            for number, worker in enumerate(self._workers, start=1):
                with contextlib.suppress(BrokenPipeError):  # it has ended, and `received` reports that
                    worker.connection.send((list(chain(*parts[:number])), list(chain(*parts[number + 1 :]))))
            whole = share.judged(list(chain(*parts)), watch=watch)
            for worker in self._workers:
                whole.add(worker.received(Part))
        return whole


def nothing_remembered(_evaluator: Evaluator) -> AbstractContextManager[None]:
    """Remembers no verdicts."""
    return contextlib.nullcontext()


@contextlib.contextmanager
def started(
    found: Sequence[sources.Found],
    *,
    make: Make,
    settings: Settings,
    number: int,
    remember: Remember = nothing_remembered,
) -> Iterator[Run]:
    """A run of some files in several processes, which end with the context.

    Args:
        found: the files.
        make: makes the evaluator of another process.
        settings: the settings of the run.
        number: the number of processes, including this one.
        remember: opens the verdicts of earlier runs.
    """
    own, *others = _parts(found, number)
    workers = list[_Worker]()
    sys.stdout.flush()
    try:
        for part in others:
            import multiprocessing

            context = multiprocessing.get_context("fork")
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, part, make, settings, remember), daemon=True)
            process.start()
            there.close()
            workers.append(_Worker(process, here))
        yield Run(own, workers, settings, remember)
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
            worker.process.join()


def _parts(found: Sequence[sources.Found], number: int) -> list[Sequence[sources.Found]]:
    """The files in that many ranges with about the same number of bytes; without files, one empty range."""
    sizes = [each.size if isinstance(each, sources.File) else 0 for each in found]
    total, parts, start, seen = sum(sizes) + len(found), list[Sequence[sources.Found]](), 0, 0
    for index, size in enumerate(sizes):
        seen += size + 1
        if seen * number >= total * (len(parts) + 1):
            parts.append(found[start : index + 1])
            start = index + 1
    return parts or [found]


def _work(
    connection: "Connection", part: Sequence[sources.Found], make: Make, settings: Settings, remember: Remember
) -> None:
    """The work of another process. It sends results and errors to the first process and prints nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # at once: it has no files to remove
    try:
        evaluator = make()
        with contextlib.closing(evaluator.engine), remember(evaluator) as verdicts:
            share = Share(part, evaluator=evaluator, settings=settings, verdicts=verdicts)
            connection.send(share.outlines)
            before, behind = connection.recv()
            connection.send(share.judged([*before, *share.outlines, *behind]))
    except (EOFError, BrokenPipeError):
        pass  # the first process has given up
    except Exception as error:  # noqa: BLE001 - the first process raises it
        known = isinstance(error, errors.UsherError)
        connection.send(_Failed(str(error) if known else f"internal error in a process of this run: {error!r}"))
