"""HTTP for the OPA client: a transport adapter that keeps one deadline for a whole call and bounds the answer.

The timeouts of requests and urllib3 count from byte to byte, so a server that trickles holds a call for ever. Here
every single wait (look-up, connection, each send, each receive) gets only what is left of the call's time.
"""

import http.client
import io
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter

from usher import errors

_CONNECTIONS: Final = 64
"""Connections that are kept open; more than threads that evaluate at once."""

_SLICE: Final = 65536
"""Bytes that are sent under one timeout."""

_ends: ContextVar[float] = ContextVar("usher-call-ends")


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Calls within take no longer than this, all together."""
    token = _ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


def remaining() -> float:
    """Seconds until the deadline.

    Raises:
        TimeoutError: there are none.
    """
    seconds = _ends.get() - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("the deadline is over")
    return seconds


class BoundedAdapter(HTTPAdapter):
    """Sends requests within the deadline and takes answers of at most `limit` bytes, without trying twice."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        super().__init__(pool_connections=1, pool_maxsize=_CONNECTIONS, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:  # noqa: ANN401, FBT001, FBT002 - the signature of requests
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:  # noqa: ANN401 - handed on as they are
        """The answer, read to its end.

        Raises:
            EngineError: it is too large.
            TimeoutError, requests.RequestException, urllib3.exceptions.HTTPError: there is none.
        """
        response = super().send(request, *arguments, **{**options, "stream": True, "timeout": remaining()})
        body = response.raw.read(self._limit + 1, decode_content=False)
        if len(body) > self._limit:
            response.raw.close()
            raise errors.EngineError(f"the answer is larger than {self._limit} bytes")
        # Plain bytes: nothing is unpacked, no cookie is kept, and no encoding guessed.
        response.raw = io.BytesIO(body)
        response.encoding = "utf-8"
        return response


class _Reader(io.RawIOBase):
    """A socket's reading end that never waits beyond the deadline."""

    def __init__(self, connection: socket.socket, raw: io.RawIOBase) -> None:
        self._connection = connection
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - whatever can be written to
        self._connection.settimeout(remaining())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - handed on as they are
        super().__init__(sock, *arguments, **options)
        self.fp = io.BufferedReader(_Reader(sock, self.fp.detach()))


class _Connection(urllib3.connection.HTTPConnection):
    response_class = _Response

    def _new_conn(self) -> socket.socket:
        # In a thread, because nothing bounds the look-up of a name and the attempts at each of its addresses.
        made: Future[socket.socket] = Future()

        def connect() -> None:
            try:
                made.set_result(super(_Connection, self)._new_conn())
            except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
                made.set_exception(error)

        threading.Thread(target=connect, name="usher-opa-connect", daemon=True).start()
        try:
            connection = made.result(remaining())
        except TimeoutError:
            made.add_done_callback(_close_unused)
            raise urllib3.exceptions.ConnectTimeoutError(self, f"no connection to {self.host} in time") from None
        connection.settimeout(remaining())
        return connection

    def send(self, data: Any) -> None:  # noqa: ANN401 - the signature of http.client
        for start in range(0, len(data), _SLICE):
            if self.sock is not None:
                self.sock.settimeout(remaining())
            super().send(data[start : start + _SLICE])


def _close_unused(made: "Future[socket.socket]") -> None:
    if made.exception() is None:
        made.result().close()


class _TlsConnection(_Connection, urllib3.connection.HTTPSConnection):
    pass


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection
