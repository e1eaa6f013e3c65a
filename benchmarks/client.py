"""A small HTTP/1.1 client on kept connections. It is cheap, so the figures are those of the server."""

import asyncio
import itertools
import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The address and the bodies to send, one after the other, again and again."""

    port: int
    path: str
    bodies: Sequence[bytes]
    context: ssl.SSLContext | None = None

    def requests(self) -> Iterator[bytes]:
        """Whole requests, made in advance so that this does not count."""
        made = [
            b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (self.path.encode(), len(body), body)
            for body in self.bodies
        ]
        return itertools.cycle(made)


async def send(target: Target, *, requests: int, connections: int) -> list[float]:
    """Sends requests over a number of connections, and returns the latency of each in seconds.

    Raises:
        RuntimeError: an answer was not HTTP 200.
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
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode("latin-1"))
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
        )
        await reader.readexactly(length)
        latencies.append(time.perf_counter() - started)
    writer.close()
    return latencies


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
