"""Measures our server with too much: a small review beside large ones, twenty large bodies, five times its capacity.

Seconds are those of the clock, so each figure comes with its ratio to the same server when it is quiet.
"""

import asyncio
import itertools
import ssl
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import client
import objects
import processes
import sections
from usher import paths
from usher.server.certs import issue

ROOT = Path(__file__).parents[1]
QUIET = 600
"""Small reviews in a row on one connection."""
LARGE_BODIES = 20
SECONDS = 5.0
"""How long the overload lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    status: int
    seconds: float


class Sender:
    """Sends reviews to one server and takes whatever it answers."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self._port = port
        self._context = context
        self._number = itertools.count()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port, ssl=self._context, server_hostname="localhost")

    def small(self) -> bytes:
        """A review that no other is like."""
        return objects.review(objects.gpu_pod(container=f"pytorch-{next(self._number)}"))

    async def one(self, body: bytes, *, limit: int) -> Answered:
        """The answer on a connection of its own; status 0 where the server ended the connection first."""
        began = time.perf_counter()
        try:
            reader, writer = await self.connect()
            return await ask(reader, writer, body, limit=limit)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            return Answered(status=0, seconds=time.perf_counter() - began)

    async def many(self, number: int, *, limit: int) -> list[Answered]:
        reader, writer = await self.connect()
        found = [await ask(reader, writer, self.small(), limit=limit) for _ in range(number)]
        writer.close()
        return found

    async def flood(self, rate: float, connections: int) -> list[Answered]:
        """Reviews at a rate that does not wait for answers, as long as a connection is free."""
        free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        for pair in await asyncio.gather(*(self.connect() for _ in range(connections))):
            free.put_nowait(pair)
        bodies = [self.small() for _ in range(int(rate * SECONDS))]

        async def send(body: bytes) -> Answered:
            pair = await free.get()
            answer = await ask(*pair, body, limit=1)
            free.put_nowait(pair)
            return answer

        began, tasks = time.perf_counter(), []
        for number, body in enumerate(bodies):
            tasks.append(asyncio.create_task(send(body)))
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        return list(await asyncio.gather(*tasks))


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, *, limit: int, path: bytes = b"/validate"
) -> Answered:
    began = time.perf_counter()
    writer.write(
        b"POST %b?timeout=%ds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (path, limit, len(body), body)
    )
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = (line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    await reader.readexactly(int(next(lengths)))
    return Answered(status=int(head.split()[1]), seconds=time.perf_counter() - began)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        sections.publish("overload", lambda: asyncio.run(measure(Path(directory))), description=__doc__)


async def measure(directory: Path) -> str:
    issue.ensure(directory, names=["localhost", "127.0.0.1"])
    context = ssl.create_default_context(cafile=directory / "ca.crt")
    port, admin_port = processes.free_port(), processes.free_port()
    command: list[str | Path] = [
        ROOT / ".venv/bin/usher", "serve", "--certificate", directory / "tls.crt", "--key", directory / "tls.key",
        "--host", "127.0.0.1", "--port", str(port), "--admin-port", str(admin_port),
        "--config", ROOT / "examples/usher.yaml",
    ]  # fmt: skip
    ready = f"http://127.0.0.1:{admin_port}/readyz"
    with processes.running(command, ready_url=ready, log=directory / "usher.log") as server:
        sender = Sender(port, context)
        await sender.many(QUIET, limit=3)
        began = time.perf_counter()
        quiet = await sender.many(QUIET, limit=3)
        capacity = QUIET / (time.perf_counter() - began)
        lines = [
            f"Small reviews: distinct pods of 4 kB. Quiet, on one connection: {capacity:.0f} answers in a second.",
            "",
            "| small reviews | answered | after 1 s | 503 | other | p50 ms | p99 ms | p99 of the quiet server |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            row("quiet server", quiet, quiet),
        ]
        lines += [
            row(f"beside pods of {containers:,} containers", await beside(sender, containers), quiet)
            for containers in (240, 3000)
        ]
        flooded = await sender.flood(capacity * 5, connections=256)
        lines.append(row(f"five times as many, {capacity * 5:.0f} in a second", flooded, quiet))
        lines.append(row("afterwards", await sender.many(QUIET, limit=3), quiet))
        return "\n".join([*lines, "", await memory(sender, server)])


async def beside(sender: Sender, containers: int) -> list[Answered]:
    """Small reviews while one large review after the other is under way."""
    one: paths.Object = {"image": "registry.example.com/image:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec: paths.Object = {"containers": [{"name": f"c{number}", **one} for number in range(containers)]}
    body = objects.review({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "namespace": "ml-research"}, "spec": spec,
    })  # fmt: skip
    small = asyncio.create_task(sender.many(QUIET, limit=3))
    while not small.done():
        await sender.one(body, limit=3)
    return await small


async def memory(sender: Sender, server: processes.Server) -> str:
    before = server.resident_megabytes()
    pod = objects.gpu_pod()
    metadata = pod["metadata"]
    assert isinstance(metadata, dict)
    metadata["annotations"] = {f"example.com/a{number}": "x" * 100 for number in range(54_000)}
    body = objects.review(pod)
    answers = await asyncio.gather(*(sender.one(body, limit=3) for _ in range(LARGE_BODIES)))
    served = sum(answer.status == 200 for answer in answers)
    await asyncio.sleep(2)
    return (
        f"{LARGE_BODIES} bodies of {len(body) / 1e6:.1f} MB at once: {served} answered, the others refused; "
        f"{before:.0f} MB resident before, {server.most_resident_megabytes():.0f} MB at most, "
        f"{server.resident_megabytes():.0f} MB two seconds later."
    )


def row(name: str, found: list[Answered], quiet: list[Answered]) -> str:
    """One line of the table; the percentiles are those of the reviews that were answered."""
    answered = [each.seconds for each in found if each.status == 200]
    refused = sum(each.status == 503 for each in found)
    p50, p99 = (client.percentile(answered, share) * 1000 for share in (0.5, 0.99))
    before = client.percentile([each.seconds for each in quiet], 0.99) * 1000
    rest = len(found) - len(answered) - refused
    late = sum(seconds > 1 for seconds in answered)
    return f"| {name} | {len(answered)} | {late} | {refused} | {rest} | {p50:.1f} | {p99:.1f} | {p99 / before:.1f} |"


if __name__ == "__main__":
    main()
