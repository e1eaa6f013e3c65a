"""Spreads connections over several servers, one server for each, as a Service does."""

import contextlib
import itertools
import socket
import threading
from collections.abc import Callable, Iterator, Sequence

from e2e.processes import LOOPBACK

_CHUNK = 64 * 1024


class Endpoints:
    """The ports of a Service. A test may change them while connections come; those that are open stay open."""

    def __init__(self, *ports: int) -> None:
        self._ports = list(ports)
        self._turns = itertools.count()

    def add(self, port: int) -> None:
        self._ports = [*self._ports, port]

    def remove(self, port: int) -> None:
        self._ports = [each for each in self._ports if each != port]

    def in_turn(self) -> list[int]:
        """All ports, each time beginning with another."""
        ports = self._ports
        first = next(self._turns) % len(ports) if ports else 0
        return [*ports[first:], *ports[:first]]


@contextlib.contextmanager
def balancing(
    endpoints: Endpoints,
    *,
    opened: Callable[[], object] = lambda: None,
    idle: float | None = None,
    at: tuple[str, int] = (LOOPBACK, 0),
) -> Iterator[int]:
    """A port whose connections go to the endpoints in turn. It skips ports without a listener.

    Args:
        endpoints: the ports.
        opened: is called for each connection.
        idle: seconds without a byte of the client after which a connection is closed.
        at: the address, on loopback; port 0 for a free one.
    """
    listener = socket.create_server(at, backlog=256)

    def accept() -> None:
        # Closing the listener ends it.
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                opened()
                threading.Thread(target=_serve, args=(client, endpoints.in_turn(), idle), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def _serve(client: socket.socket, ports: Sequence[int], idle: float | None) -> None:
    server = _connected(ports)
    if server is None:
        client.close()
        return
    for each in (client, server):
        # Otherwise an answer of two packets waits 40 ms for an acknowledgement.
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    client.settimeout(idle)
    back = threading.Thread(target=_pump, args=(server, client), daemon=True)
    back.start()
    _pump(client, server)
    # Both ends hear of it; then the other direction ends too.
    for each in (client, server):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
    back.join()
    client.close()
    server.close()


def _connected(ports: Sequence[int]) -> socket.socket | None:
    for port in ports:
        with contextlib.suppress(OSError):
            return socket.create_connection((LOOPBACK, port), timeout=None)
    return None


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
