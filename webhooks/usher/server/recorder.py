"""Records reviews in a file for `usher replay`, in its own thread. It never delays a review or makes it fail."""

import contextlib
import dataclasses
import errno
import os
import queue
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

import structlog
from msgspec import Struct

from usher import __version__, errors
from usher.review import records, redaction
from usher.review.admission_review import Answer, Review, on_one_line
from usher.review.records import AnonymousNames

MEBIBYTE: Final = 2**20

_LARGEST_BODY: Final = 256 * 1024
"""The most bytes of a recorded review. Reading a larger one would delay the event loop."""

_WAITING: Final = 1000
_WAITING_BYTES: Final = 4 * MEBIBYTE
"""The most reviews, and bytes of their bodies, that wait for the thread. usher counts further ones and leaves them out.
Objects take ten times the memory of their bodies.
"""

_BETWEEN: Final = 60.0
"""Seconds between two log lines about reviews that were left out."""

_RECORDED: Final = "validate"
"""The endpoint whose objects are as stored in the cluster."""

_STOP: Final = None


class Settings(Struct, frozen=True, kw_only=True):
    """The record: its file, its size and its names."""

    file: Path
    size: int
    """The most bytes of the file. Then usher renames it to FILE.1 and starts a new one, so both together take twice as
    much.
    """
    key: bytes | None = None
    """The key of the hashes that replace names; None to keep the names."""


class _Waiting(Struct, frozen=True):
    review: Review
    allowed: bool
    denials: tuple[str, ...]
    size: int
    time: float


class Recorder:
    """Takes answers from the event loop, and writes their reviews in its thread."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        """Opens the file, so that a server with a wrong path does not start.

        Raises:
            InputError: the file cannot be written.
        """
        self._settings, self._clock = settings, clock
        self._names = None if settings.key is None else AnonymousNames(settings.key)
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._bytes = 0
        self._left_out: Counter[str] = Counter()
        self._told = float("-inf")
        self._stopped = False
        try:
            self._stream = self._opened()
        except OSError as error:
            raise errors.InputError(
                f"--record: {settings.file} cannot be written: {(error.strerror or str(error)).lower()}"
            ) from None
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def record(self, endpoint: str, answer: Answer, size: int) -> None:
        """Records the review of an answer, without waiting; `size` is the size of its body in bytes."""
        review = answer.review
        if endpoint != _RECORDED or review.value is None or review.dry_run or self._stopped:
            return
        with self._lock:
            if size > _LARGEST_BODY:
                self._left_out[f"larger than {_LARGEST_BODY // 1024} KiB"] += 1
                return
            if self._queue.qsize() >= _WAITING or self._bytes + size > _WAITING_BYTES:
                self._left_out["too many at once"] += 1
                return
            self._bytes += size
        self._queue.put(_Waiting(review, answer.allowed, answer.denials, size, self._clock()))

    def close(self) -> None:
        """Writes the waiting reviews, for at most a second."""
        self._queue.put(_STOP)
        self._thread.join(1)

    def _run(self) -> None:
        while (waiting := self._queue.get()) is not _STOP:
            with self._lock:
                self._bytes -= waiting.size
            if self._stopped:
                continue
            try:
                self._write(self._line(waiting))
            except OSError as error:
                self._stopped = True
                structlog.get_logger().error(
                    "record_stopped", file=str(self._settings.file), reason=(error.strerror or str(error)).lower()
                )
            except Exception as error:  # noqa: BLE001 - an object that cannot be recorded must not end the thread
                with self._lock:
                    self._left_out[f"usher could not write them ({type(error).__name__})"] += 1
        with contextlib.suppress(OSError):
            if not self._stopped:
                self._write(b"")
            self._stream.close()

    def _line(self, waiting: _Waiting) -> bytes:
        review = waiting.review
        value = None if review.value is None else redaction.without_secrets(review.value)
        old = None if review.old_value is None else redaction.without_secrets(review.old_value)
        review = dataclasses.replace(review, value=value, old_value=old)
        if self._names is not None:
            review = self._names.review(review)
        recorded = {
            "time": datetime.fromtimestamp(waiting.time, UTC).isoformat(timespec="milliseconds"),
            "usher": __version__,
            "allowed": waiting.allowed,
            "denials": [on_one_line(each.partition(" ")[0], 32) for each in waiting.denials],
        }
        request = records.recorded_request(review, value=review.value, old_value=review.old_value)
        return records.review_line(request, recorded=recorded)

    def _write(self, line: bytes) -> None:
        """Writes a line, if any, and before it the number of missing reviews."""
        self._tell()
        with self._lock:
            missing, self._left_out = self._left_out, Counter()
        if missing:
            line = self._head(missing) + line
        if self._stream.tell() + len(line) > self._settings.size:
            self._rotate()
        # Without buffering, a full disk can only cut off the last line of the file, and a reader names that line.
        if self._stream.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _tell(self) -> None:
        now = time.monotonic()
        with self._lock:
            reasons = dict(self._left_out)
        if reasons and now - self._told >= _BETWEEN:
            self._told = now
            structlog.get_logger().warning("reviews_not_recorded", reasons=reasons)

    def _rotate(self) -> None:
        file = self._settings.file
        self._stream.close()
        older = file.with_name(f"{file.name}.1")
        file.replace(older)
        structlog.get_logger().info("record_rotated", file=str(file), older=str(older))
        self._stream = self._opened()

    def _opened(self) -> BinaryIO:
        """The open file, readable only for its owner. It does not follow links."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        stream = os.fdopen(os.open(self._settings.file, flags, 0o600), "ab", buffering=0)
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise OSError(errno.EINVAL, "not a regular file")
        if stream.tell() and not _ends_line(self._settings.file):
            stream.write(b"\n")
        stream.write(self._head(Counter()))
        return stream

    def _head(self, missing: Counter[str]) -> bytes:
        return records.head_line(version=__version__, anonymised=self._names is not None, missing=missing)


def _ends_line(file: Path) -> bool:
    with file.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"
