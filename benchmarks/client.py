"""A small HTTP/1.1 client on kept connections. It is cheap, so the figures are those of the server."""

import asyncio
import itertools
import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PAUSE = 0.1
"""Seconds before another try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The address and the bodies to send, one after the other, again and again."""

    port: int
    path: str
    bodies: Sequence[bytes]
    context: ssl.SSLContext | None = None
    token: str = ""
    """A bearer token, which an API server wants."""
    tries: int = 1
    """How many times to send a body for which a server on a busy machine has no time (503)."""

    def requests(self) -> Iterator[bytes]:
        """Whole requests, made in advance so that this does not count."""
        own = f"Authorization: Bearer {self.token}\r\n" if self.token else ""
        made = [
            b"POST %b HTTP/1.1\r\nHost: localhost\r\n%bContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (self.path.encode(), own.encode(), len(body), body)
            for body in self.bodies
        ]
        return itertools.cycle(made)


async def send(target: Target, *, requests: int, connections: int) -> list[float]:
    """Sends requests over a number of connections, and returns the latency of each in seconds.

    Raises:
        RuntimeError: an answer was not HTTP 200 or 201.
    """
    each, rest = divmod(requests, connections)
    bodies = target.requests()
    lists = await asyncio.gather(
        *(_connection(target, bodies, each + (number < rest)) for number in range(connections))
    )
    return [latency for latencies in lists for latency in latencies]


async def _connection(target: Target, bodies: Iterator[bytes], requests: int) -> list[float]:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", target.port, ssl=target.context, server_hostname="localhost" if target.context else None
    )
    latencies = []
    for request in itertools.islice(bodies, requests):
        started = time.perf_counter()
        for left in reversed(range(target.tries)):
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
                break
            if not left or not head.startswith(b"HTTP/1.1 503"):
                raise RuntimeError(head.decode("latin-1"))
            await _skip_body(reader, head)
            await asyncio.sleep(_PAUSE)
        await _skip_body(reader, head)
        latencies.append(time.perf_counter() - started)
    writer.close()
    return latencies


async def _skip_body(reader: asyncio.StreamReader, head: bytes) -> None:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))
            return
    # In chunks, as an API server answers; the last one is empty.
    while length := int(await reader.readline(), 16):
        await reader.readexactly(length + 2)
    await reader.readline()


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
