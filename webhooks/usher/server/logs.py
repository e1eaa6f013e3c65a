"""Writes JSON lines to standard output: one for each decision, with the request's uid, as in audit logs."""

import contextlib
import logging
import sys
import threading
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final, TextIO

import orjson
import structlog

from usher import errors, paths
from usher.review.admission_review import Answer, on_one_line

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
        self._told = False

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
        if self._told:
            return
        self._told = True
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"usher: log lines are lost, because the log cannot be written: {error}\n")


_LOGGER: Final = structlog.get_logger()
"""Bound at its first use, so call `configure` before any review."""


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
    _LOGGER.info("decision", **event)


def _owner(value: paths.Object | None) -> str:
    """Kind and name of the controller that an object names, which may be false."""
    metadata = value.get("metadata") if value else None
    references = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    for reference in references[:_MOST] if isinstance(references, list) else ():
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
