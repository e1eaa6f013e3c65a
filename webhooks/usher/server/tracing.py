"""Traces of reviews for OpenTelemetry, with the extra `tracing`. Without an exporter in OTEL_* nothing is imported.

A span is made when its review is answered, from times that the server keeps anyway. A review never waits for an export.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Final

import structlog
from msgspec import Struct

from usher import __version__
from usher.review.admission_review import Answer, on_one_line
from usher.server.ports import ReviewTime

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")

_PROTOCOL: Final = "http/protobuf"

_PARENT: Final = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})\Z")
"""The header of version 00. Source: https://www.w3.org/TR/trace-context/#traceparent-header-field-values"""

_SAMPLED: Final = 1
MOST_IN_SECOND: Final = 200
"""The most traced reviews in a second. The sampled flag of a stranger gets around OTEL_TRACES_SAMPLER."""

_LONGEST: Final = 253
_LAST_EXPORT: Final = 2.0
"""Seconds for the last spans when the server ends."""


class Parent(Struct, frozen=True, kw_only=True):
    """The span of the API server that a review belongs to."""

    trace_id: int
    span_id: int
    flags: int


def parent_of(headers: Iterable[tuple[bytes, bytes]]) -> Parent | None:
    """The parent in `traceparent`; None if the header is missing, sent twice or malformed. Others are never read."""
    found = [value for name, value in headers if name == b"traceparent"]
    read = _PARENT.match(found[0]) if len(found) == 1 else None
    if read is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in read.groups())
    return Parent(trace_id=trace_id, span_id=span_id, flags=flags) if trace_id and span_id else None


class Traces:
    """Makes the spans of reviews and exports them in a thread of its own."""

    def __init__(self, provider: Any, *, clock: Callable[[], float] = time.monotonic) -> None:  # noqa: ANN401 - the type is one of the extra
        """Takes a TracerProvider of the SDK, and a clock in seconds."""
        from opentelemetry import trace

        self._trace = trace
        self._provider = provider
        self._tracer = provider.get_tracer("gpu-usher", __version__)
        self._clock = clock
        self._second, self._traced = 0, 0
        self._is_logged = False

    def add(self, when: ReviewTime, endpoint: str, status: int, *, parent: Parent | None, answer: Answer | None) -> str:
        """Makes the span of a review that was answered now, and returns the hexadecimal id of its trace; empty if it is
        not sampled.
        """
        if not self._has_room():
            return ""
        try:
            return self._span(when, endpoint, status, parent=parent, answer=answer)
        except Exception as error:  # noqa: BLE001 - no fault of a trace ends a review
            if not self._is_logged:
                self._is_logged = True
                structlog.get_logger().warning("tracing_problem", reason=on_one_line(repr(error), _LONGEST))
            return ""

    def _span(
        self, when: ReviewTime, endpoint: str, status: int, *, parent: Parent | None, answer: Answer | None
    ) -> str:
        now = time.monotonic()
        # Spans have times of the wall clock, in nanoseconds.
        offset = time.time() - now
        span = self._tracer.start_span(
            f"POST /{endpoint}",
            context=self._context(parent),
            kind=self._trace.SpanKind.SERVER,
            attributes=_attributes(endpoint, status, answer),
            start_time=_nanoseconds(when.arrived + offset),
        )
        if span.is_recording():
            self._traced += 1
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                span.set_status(self._trace.StatusCode.ERROR)
            context = self._trace.set_span_in_context(span)
            for name, begin, end in when.steps(now):
                step = self._tracer.start_span(name, context=context, start_time=_nanoseconds(begin + offset))
                step.end(_nanoseconds(end + offset))
        span.end(_nanoseconds(now + offset))
        found = span.get_span_context()
        return format(found.trace_id, "032x") if found.trace_flags & _SAMPLED else ""

    def _has_room(self) -> bool:
        second = int(self._clock())
        if second != self._second:
            self._second, self._traced = second, 0
        return self._traced < MOST_IN_SECOND

    def _context(self, parent: Parent | None) -> Any:  # noqa: ANN401 - None or a context of the library
        if parent is None:
            return None
        trace = self._trace
        remote = trace.SpanContext(
            trace_id=parent.trace_id,
            span_id=parent.span_id,
            is_remote=True,
            trace_flags=trace.TraceFlags(parent.flags & _SAMPLED),
        )
        return trace.set_span_in_context(trace.NonRecordingSpan(remote))

    def close(self) -> None:
        """Exports the last spans, as far as the collector takes them within seconds."""
        last = threading.Thread(target=self._provider.shutdown, name="last-spans", daemon=True)
        last.start()
        last.join(_LAST_EXPORT)


def from_environment() -> Traces | None:
    """The traces that OTEL_* ask for; None without any.

    Traces that cannot be made are a line in the log, because a platform may set these variables for every pod.
    """
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    endpoint = any(os.environ.get(name) for name in _ENDPOINTS)
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if disabled or exporter == "none" or not (exporter or endpoint):
        return None
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), _PROTOCOL)
    if exporter not in ("", "otlp"):
        reason = f"OTEL_TRACES_EXPORTER is {exporter}; usher exports otlp"
    elif protocol != _PROTOCOL:
        reason = f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}; usher exports {_PROTOCOL}"
    else:
        try:
            return Traces(_provider())
        except ImportError as error:
            reason = f"{error.name} is not installed: pip install 'gpu-usher[tracing]'"
        except Exception as error:  # noqa: BLE001 - the library raises errors of many kinds about its variables
            reason = f"{type(error).__name__}: {error}"
    structlog.get_logger().warning("tracing_problem", reason=on_one_line(reason, 500))
    return None


def _provider() -> Any:  # noqa: ANN401 - the type is one of the extra
    """A TracerProvider that reads the other OTEL_* itself. It is not the global one, so no library adds spans."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # What Resource.create gets would replace the name in the variables.
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    own = {"service.version": __version__} if named else {"service.name": "gpu-usher", "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(own), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _attributes(endpoint: str, status: int, answer: Answer | None) -> dict[str, str | int | bool]:
    """Attributes as in https://opentelemetry.io/docs/specs/semconv/http/http-spans/, and our own.

    The uid leads to the line in our log, and in the audit log of the API server.
    """
    found: dict[str, str | int | bool] = {
        "http.request.method": "POST",
        "http.route": f"/{endpoint}",
        "http.response.status_code": status,
        "url.scheme": "https",
    }
    if answer is not None:
        review = answer.review
        found |= {
            "usher.uid": on_one_line(review.uid, _LONGEST),
            "usher.operation": review.operation.value,
            "usher.kind": on_one_line(review.kind, _LONGEST),
            "usher.allowed": answer.allowed,
            "k8s.namespace.name": on_one_line(review.namespace, _LONGEST),
        }
    return found


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
