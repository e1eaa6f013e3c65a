"""A collector of OpenTelemetry on loopback, as far as a test reads traces."""

import contextlib
import http.server
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest


class Collector:
    """Keeps what a server exports to it."""

    def __init__(self, url: str) -> None:
        self.spans: list[Any] = []
        self.service_names: set[str] = set()
        self.variables: Mapping[str, str] = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
            # By default a batch waits for five seconds.
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }

    def reviews(self, endpoint: str = "validate") -> list[Any]:
        """The spans of reviews of one endpoint."""
        return [span for span in self.spans if span.name == f"POST /{endpoint}"]

    def take(self, exported: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        for resource in ExportTraceServiceRequest.FromString(exported).resource_spans:
            names = [each.value.string_value for each in resource.resource.attributes if each.key == "service.name"]
            self.service_names.update(names)
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]


def attributes(span: Any) -> dict[str, Any]:
    """The attributes of a span by name."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


@contextlib.contextmanager
def collecting(*, answers: bool = True) -> Iterator[Collector]:
    """A collector that takes exports, or never answers. Needs the extra `tracing`."""
    pytest.importorskip("opentelemetry.sdk", reason="gpu-usher[tracing] is not installed")
    leaving = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if not answers:
                leaving.wait()
                return
            collector.take(body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        leaving.set()
        server.shutdown()
        thread.join()
        server.server_close()
