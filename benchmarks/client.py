"""A small HTTP/1.1 client on kept connections: cheap, so that the server is what is measured."""

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    port: int
    path: str
    body: bytes
    context: ssl.SSLContext | None = None

    def request(self) -> bytes:
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


async def send(target: Target, *, requests: int, connections: int) -> list[float]:
    """Sends a number of requests over so many connections; the latency of each in seconds.

    Raises:
        RuntimeError: an answer was not HTTP 200.
    """
    each, rest = divmod(requests, connections)
    lists = await asyncio.gather(*(_connection(target, each + (number < rest)) for number in range(connections)))
    return [latency for latencies in lists for latency in latencies]


async def _connection(target: Target, requests: int) -> list[float]:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", target.port, ssl=target.context, server_hostname="localhost" if target.context else None
    )
    request = target.request()
    latencies = []
    for _ in range(requests):
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
