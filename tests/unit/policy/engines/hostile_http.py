"""A server on loopback that answers as no OPA would, and says what it was asked."""

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Final

BOUND: Final = 60.0
"""Seconds after which the server gives up being hostile."""

REVISION: Final = "0123456789abcdef"
"""The answer to a request for the revision of its policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One request, which has been read but for its body, and the connection on which to answer."""

    connection: socket.socket
    head: bytes
    stream: BufferedIOBase
    ended: threading.Event

    def read_body(self) -> bytes:
        return self.stream.read(int(self.head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def trickle(self, data: bytes) -> None:
        """Sends byte by byte, with a pause before each."""
        for number in range(len(data)):
            if self.ended.wait(0.01):
                return
            self.send(data[number : number + 1])

    def hang(self) -> None:
        self.ended.wait(BOUND)


Behaviour = Callable[[Conversation], None]


def answer(body: bytes, *, status: str = "200 OK", headers: bytes = b"Content-Type: application/json\r\n") -> bytes:
    """A complete HTTP answer."""
    return b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\n\r\n%b" % (status.encode(), headers, len(body), body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    url: str
    heads: list[bytes] = field(default_factory=list)
    """Request line and header fields of every request but those for the revision."""


@contextlib.contextmanager
def serving(behaviour: Behaviour) -> Iterator[Server]:
    """A server that behaves so when it is asked for a decision; its revision it tells as it should."""
    ended = threading.Event()
    heads: list[bytes] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            # The client hangs up on what it does not want to hear.
            with contextlib.suppress(OSError):
                while head := _head(self.rfile):
                    talk = Conversation(connection=self.connection, head=head, stream=self.rfile, ended=ended)
                    if b"/usher/main/revision " in head:
                        talk.read_body()
                        talk.send(answer(b'{"result": "%b"}' % REVISION.encode()))
                    else:
                        heads.append(head)
                        behaviour(talk)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True  # those of connections that the client keeps open end with it
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield Server(url=f"http://127.0.0.1:{server.server_address[1]}", heads=heads)
        finally:
            ended.set()
            server.shutdown()
            thread.join(BOUND)


def _head(stream: BufferedIOBase) -> bytes:
    lines = []
    while (line := stream.readline()) not in (b"\r\n", b""):
        lines.append(line)
    return b"".join(lines)
