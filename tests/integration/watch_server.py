"""A small API server on loopback that is watched: what it sends, byte by byte, is for a test to say."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kubernetes import client

from integration.api_server import served
from usher.cluster import connection


class Connection:
    """One request, to be answered piece by piece."""

    def __init__(self, handler: BaseHTTPRequestHandler, query: Mapping[str, str], body: bytes) -> None:
        self.query = query
        self.body = body
        self._handler = handler
        self.closed = threading.Event()

    def answer(self, status: int, value: Any) -> None:
        """The whole of an answer."""
        data = json.dumps(value).encode()
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Content-Length", str(len(data)))
        self._handler.end_headers()
        self._handler.wfile.write(data)

    def begin(self) -> None:
        """An answer whose end is open."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def send(self, data: bytes) -> None:
        """A piece of it."""
        self._handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self._handler.wfile.flush()

    def end(self) -> None:
        """Its proper end; without it the connection is cut."""
        self._handler.wfile.write(b"0\r\n\r\n")

    def stay_silent(self, released: threading.Event) -> None:
        """Sends nothing until the test has ended."""
        released.wait(30)


Answering = Callable[[Connection], None]


class WatchServer:
    """Answers each request for a path by the next of what it was told; the last is repeated."""

    def __init__(self) -> None:
        self.url = ""
        self.released = threading.Event()
        self.requests: list[tuple[str, str, Mapping[str, str]]] = []
        """Method, path and query."""
        self._answers: dict[tuple[str, bool], list[Answering]] = {}
        self._lock = threading.Lock()

    def lists(self, path: str, *answers: Answering) -> None:
        self._answers[path, False] = list(answers)

    def watches(self, path: str, *answers: Answering) -> None:
        self._answers[path, True] = list(answers)

    def handle(self, method: str, path: str, connected: Connection) -> None:
        with self._lock:
            self.requests.append((method, path, connected.query))
            waiting = self._answers.get((path, "watch" in connected.query), [])
            answering = (waiting.pop(0) if len(waiting) > 1 else waiting[0]) if waiting else _unknown
        answering(connected)

    def queries(self, path: str) -> list[Mapping[str, str]]:
        """The queries of watches of a path so far."""
        with self._lock:
            return [query for _, asked, query in self.requests if asked == path and "watch" in query]

    def api(self) -> connection.Api:
        configuration = client.Configuration()
        configuration.host = self.url
        return connection.Api(configuration, name="the test cluster", wait=lambda _: None)


def _unknown(connected: Connection) -> None:
    connected.answer(404, {"kind": "Status", "message": "the server could not find the requested resource"})


def listed(*items: Any, version: str = "10") -> Answering:
    value = {"kind": "List", "metadata": {"resourceVersion": version}, "items": list(items)}
    return lambda connected: connected.answer(200, value)


def refused(status: int) -> Answering:
    return lambda connected: connected.answer(status, {"kind": "Status", "message": "no", "code": status})


@contextlib.contextmanager
def running() -> Iterator[WatchServer]:
    server = WatchServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise what follows the headers in a packet of its own waits 40 ms for the answer to the first.
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            url = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connected = Connection(self, query, body)
            with contextlib.suppress(OSError):
                server.handle(self.command, url.path, connected)
            self.close_connection = "watch" in query

        def do_GET(self) -> None:
            self._handle()

        def do_PUT(self) -> None:
            self._handle()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            pass

    with served(Handler) as url:
        server.url = url
        try:
            yield server
        finally:
            server.released.set()
