"""The two ports: sockets that listen, and the HTTP servers behind them."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from usher import errors
from usher.dataclass import dataclass
from usher.server.protocol import protocol_for

KEEP_ALIVE: Final = 120
"""Seconds. The API server keeps idle connections for 90; it must close first (docs/domain/webhooks.md#connections)."""

GRACE: Final = 20
"""Seconds that open requests get to end after that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    host: str
    port: int
    """0 means any free port."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Server(uvicorn.Server):
    """Leaves signals to us: two servers share this process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server(app: ASGIApp, *, context: ssl.SSLContext | None = None, clients: frozenset[str] = frozenset()) -> Server:
    """An HTTP server; over TLS with a context.

    Args:
        app: the application that answers.
        context: for the listener; it may change the certificate at any time.
        clients: allowed common names in client certificates; empty if any client may call.
    """
    config = uvicorn.Config(
        app,
        loop="none",  # the caller chooses the event loop
        http=protocol_for(clients),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        ssl_context_factory=None if context is None else lambda _config, _default: context,
    )
    return Server(config)


@contextlib.contextmanager
def bound(place: Address) -> Iterator[socket.socket]:
    """A listening socket. uvicorn's own binding would end the process without naming the port."""
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        listening = socket.create_server((place.host, place.port), family=family, backlog=2048)
    except OSError as error:
        # Python adds the address to the system's words.
        reason = str(error.strerror).partition(" (")[0]
        raise errors.InputError(
            f"port {place.port} on {place.host} cannot be opened: {reason}; choose another"
        ) from None
    with listening:
        yield listening


def address(listening: socket.socket) -> Address:
    host, port = listening.getsockname()[:2]
    return Address(host=host, port=port)
