"""Writes JSON lines to standard output: one for each decision, with the request's uid, as in audit logs.

`Recorder` also writes the reviews themselves to a file for `usher replay`, in its own thread. It never delays a review
or makes it fail.
"""

import contextlib
import dataclasses
import errno
import logging
import os
import queue
import stat
import sys
import threading
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, TextIO

import orjson
import structlog
from msgspec import Struct

from usher import __version__, errors, paths
from usher.review import records, redaction
from usher.review.admission_review import Answer, Review, on_one_line
from usher.review.records import AnonymousNames

_LONGEST: Final = 253
"""The most characters of a logged name: the longest Kubernetes name, and a limit for names from strangers."""

_SHORT: Final = 100
"""Characters of the name of a group, and of a version."""

_GROUPS: Final = 10
"""Groups of a user that are logged."""

_BETWEEN_REFUSALS: Final = 10.0
"""Seconds between two lines about refused requests of one endpoint and status; there are few statuses."""

_KINDS_OF_LINES: Final = 200
"""Kinds of lines of libraries that are kept apart."""

_MOST: Final = 20
"""The most conflicts, denials, owners and frames of a traceback that one line has."""


class _Output:
    """A stream that loses lines if a disk is full or a pipe is closed. Answers and a shutdown go on."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._is_reported = False

    def write(self, line: bytes) -> None:
        try:
            self._stream.write(line)
        except (OSError, ValueError) as error:
            self._lost(error)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._lost(error)

    def _lost(self, error: Exception) -> None:
        if self._is_reported:
            return
        self._is_reported = True
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"usher: log lines are lost, because the log cannot be written: {error}\n")


class _Lines:
    """Writes the lines of decisions. They do not pass through structlog, which would take half of their time."""

    write: Callable[[bytes], None] = staticmethod(lambda _line: None)
    """Set by `configure`, so call that before any review."""


def configure(*, stream: TextIO | None = None) -> None:
    """Sends our own events and the events of libraries to one stream as JSON lines."""
    output = _Output((stream or sys.stdout).buffer)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=lambda event, **_: orjson.dumps(event, default=repr)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(output),  # type: ignore[arg-type]  # it writes and flushes
        cache_logger_on_first_use=True,
    )
    _Lines.write = structlog.BytesLogger(output).msg  # type: ignore[arg-type]  # it writes and flushes
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(_places),
                structlog.processors.JSONRenderer(),
            ],
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
        )
    )
    handler.addFilter(_Repetitions())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    # A handler that cannot write would print a traceback for each line.
    logging.raiseExceptions = False


def _places(exc_info: structlog.typing.ExcInfo) -> str:
    """The type and the places of an error. Its text may quote an object."""
    kind, _, trace = exc_info
    return "".join([*traceback.format_tb(trace, limit=-_MOST), kind.__name__])


class _Repetitions(logging.Filter):
    """Lets one line of each kind through in a while, because clients and servers that are away cause many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written. It ends with the number of similar ones that were not."""
        key, now = (record.name, str(record.msg)[:_LONGEST]), self._clock()
        if key in self._last and now - self._last[key] < _BETWEEN_REFUSALS:
            self._left_out[key] += 1
            return False
        if len(self._last) >= _KINDS_OF_LINES:
            self._last.clear()
        self._last[key] = now
        if similar := self._left_out.pop(key, 0):
            record.msg, record.args = f"{record.getMessage()} ({similar} similar before)", ()
        return True


def take_over_process() -> None:
    """Makes JSON lines also of warnings, and of errors that end a thread, a finalizer or the process.

    Python writes them as plain text of many lines. A traceback has places and no values, as for failed reviews.
    """
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda kind, error, trace: _log_uncaught("process", kind, error, trace)
    threading.excepthook = lambda given: _log_uncaught("thread", given.exc_type, given.exc_value, given.exc_traceback)
    sys.unraisablehook = lambda given: _log_uncaught("finalizer", given.exc_type, given.exc_value, given.exc_traceback)


def _log_uncaught(
    place: str, kind: type[BaseException], error: BaseException | None, trace: types.TracebackType | None
) -> None:
    if kind is SystemExit:
        return
    event = {"place": place, "error": kind.__name__}
    if isinstance(error, errors.UsherError):
        event["reason"] = on_one_line(str(error), 500)
    else:
        event["traceback"] = "".join(traceback.format_tb(trace, limit=-_MOST))
    structlog.get_logger().error("uncaught_error", **event)


def decision(endpoint: str, answer: Answer, *, seconds: float, phases: Mapping[str, float], trace_id: str = "") -> None:
    """Writes the decision log; docs/decision-log.md explains its fields.

    It names the object and never shows it: pod specs hold secrets.

    Args:
        seconds: from the arrival of the request to its answer.
        trace_id: the trace of the review; empty without one.
    """
    review = answer.review
    event: dict[str, object] = {
        "uid": on_one_line(review.uid, _LONGEST),
        "endpoint": endpoint,
        "operation": review.operation.value,
        "apiGroup": on_one_line(review.resource.group, _LONGEST),
        "apiVersion": on_one_line(review.resource.version, _SHORT),
        "kind": on_one_line(review.kind, _LONGEST),
        "namespace": on_one_line(review.namespace, _LONGEST),
        "name": on_one_line(review.name, _LONGEST),
        "allowed": answer.allowed,
        "milliseconds": round(seconds * 1000, 3),
        "phases": {name: round(value * 1000, 3) for name, value in phases.items()},
    }
    if review.user is not None:
        event["user"] = on_one_line(review.user.name, _LONGEST)
        event["groups"] = [on_one_line(group, _SHORT) for group in review.user.groups[:_GROUPS]]
    rest: dict[str, object] = {
        "owner": _owner(review.value),
        "subResource": on_one_line(review.sub_resource, _LONGEST),
        "dryRun": review.dry_run,
        "findings": answer.outcomes,
        "denials": [on_one_line(denial, _LONGEST) for denial in answer.denials[:_MOST]],
        "observed": [on_one_line(place, _LONGEST) for place in list(answer.observed.values())[:_MOST]],
        "mutations": answer.mutations,
        "conflicts": [on_one_line(conflict, _LONGEST) for conflict in answer.conflicts[:_MOST]],
        "missedMutations": answer.missed,
        "notEvaluated": answer.unknowns,
        "traceId": trace_id,
    }
    event.update({name: value for name, value in rest.items() if value})
    event.update(event="decision", level="info", timestamp=datetime.now(UTC))
    _Lines.write(orjson.dumps(event, option=orjson.OPT_UTC_Z))


def _owner(value: paths.Object | None) -> str:
    """Kind and name of the controller that an object names, which may be false."""
    for reference in paths.elements(paths.metadata(value or {}).get("ownerReferences"))[:_MOST]:
        if isinstance(reference, dict) and reference.get("controller") is True:
            return on_one_line(f"{reference.get('kind')}/{reference.get('name')}", _LONGEST)
    return ""


class Refusals:
    """Logs requests that were answered with 4xx or 503, at most one line per endpoint and status in a while.

    Any client of the port can send bad requests, so their number must not fill the log.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[tuple[str, int], float] = {}
        self._left_out: Counter[tuple[str, int]] = Counter()

    def log(self, endpoint: str, status: int, reason: str) -> None:
        key = endpoint, status
        now = self._clock()
        if key in self._last and now - self._last[key] < _BETWEEN_REFUSALS:
            self._left_out[key] += 1
            return
        self._last[key] = now
        structlog.get_logger().warning(
            "request_refused",
            endpoint=endpoint,
            status=status,
            reason=on_one_line(reason.strip(), 500),
            similar=self._left_out.pop(key, 0),
        )


def failure(endpoint: str, error: Exception, *, trace_id: str = "") -> None:
    """Logs a review without a verdict. For unexpected errors it logs only type and place, because their text may quote
    the object.
    """
    event = {"endpoint": endpoint, "error": type(error).__name__, **({"traceId": trace_id} if trace_id else {})}
    if isinstance(error, errors.UsherError):
        event["reason"] = on_one_line(str(error), 500)
    else:
        event["traceback"] = "".join(traceback.format_tb(error.__traceback__, limit=-_MOST))
    structlog.get_logger().error("review_failed", **event)


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


class RecordSettings(Struct, frozen=True, kw_only=True):
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

    def __init__(self, settings: RecordSettings, *, clock: Callable[[], float] = time.time) -> None:
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
        self._logged_at = float("-inf")
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
        if reasons and now - self._logged_at >= _BETWEEN:
            self._logged_at = now
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
