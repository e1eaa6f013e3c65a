"""A proxy on loopback. It knows hosts that no resolver knows, so that what answers has come through it."""

import base64
import contextlib
import select
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

LOOPBACK: Final = "127.0.0.1"
HOST: Final = "behind.example.com"
"""The name of this machine in URLs that go through the proxy."""

_DIRECT: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class Proxy:
    """Forwards requests by http://, and opens tunnels, to ports of this machine."""

    user: str = ""
    """`user:password` that it asks for."""
    refused: bool = False
    """Whether it reaches no server."""
    port: int = 0
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, target and headers of what it was asked, and let through or not."""
    tunnelled: bytes = b""
    """The bytes that clients sent through tunnels."""

    def url(self, *, scheme: str = "http", user: str = "") -> str:
        return f"{scheme}://{f'{user}@' if user else ''}{LOOPBACK}:{self.port}"


@contextlib.contextmanager
def serving(proxy: Proxy, *, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """The proxy, while the context lasts; with `tls` it is one that is asked by https://."""

    class Here(_Handler):
        serves = proxy

    with ThreadingHTTPServer((LOOPBACK, 0), Here) as server:
        server.daemon_threads = True
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        proxy.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    serves: Proxy

    def do_GET(self) -> None:
        if not self._is_welcome():
            return
        if self.serves.refused:
            self.send_error(503)
        else:
            parts = urlsplit(self.path)
            headers = {key: value for key, value in self.headers.items() if not key.startswith(("Proxy-", "Host"))}
            url = parts._replace(netloc=f"{LOOPBACK}:{parts.port}").geturl()
            with _opened(urllib.request.Request(url, headers=headers)) as answer:
                body = answer.read()
                self.send_response(answer.status or 200)
                for name in ("Content-Type", "Retry-After"):
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.end_headers()
                self.wfile.write(body)

    def do_CONNECT(self) -> None:
        if not self._is_welcome():
            return
        host, _, port = self.path.partition(":")
        if self.serves.refused or host != HOST:
            self.send_error(403)
            return
        with socket.create_connection((LOOPBACK, int(port))) as server:
            self.send_response(200)
            self.end_headers()
            self._carry(server)

    def _is_welcome(self) -> bool:
        self.serves.requests.append((self.command, self.path, dict(self.headers.items())))
        expected = f"Basic {base64.b64encode(self.serves.user.encode()).decode()}"
        if self.serves.user and self.headers.get("Proxy-Authorization") != expected:
            self.send_error(407)
            return False
        return True

    def _carry(self, server: socket.socket) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            while True:
                for readable in select.select([self.connection, server], [], [], 0.05)[0]:
                    data = readable.recv(65536)
                    if not data:
                        return
                    if readable is self.connection:
                        self.serves.tunnelled += data
                        server.sendall(data)
                    else:
                        self.connection.sendall(data)

    def log_message(self, *_: object) -> None:
        pass


def _opened(request: urllib.request.Request) -> "contextlib.closing[urllib.error.HTTPError]":
    try:
        return contextlib.closing(_DIRECT.open(request, timeout=60))
    except urllib.error.HTTPError as refusal:
        return contextlib.closing(refusal)
