"""Measures 1,000 Pods in a second, with both webhooks, for a minute: one replica, two, and two processes on one port.

Each row comes alone, and beside processes that want half of the processors. A tenth of the Pods are fresh: jobs of ten
Pods. Our own time is that of the decisions in the server's log; the client also adds its own waiting.
"""

import asyncio
import contextlib
import itertools
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import client
import objects
import overload
import processes
import sections
from usher.server.certs import issue

ROOT: Final = Path(__file__).parents[1]
RATE: Final = 1_000
"""Pods in a second; each is two reviews."""
SECONDS: Final = 60
CONNECTIONS: Final = 48
PODS_OF_A_JOB: Final = 10
TIMEOUTS: Final = {b"/mutate": 1, b"/validate": 3}
"""Seconds, as `usher manifests` writes them."""
LIMIT: Final = 10.0
"""Milliseconds of our own time for 99 of 100 reviews."""
KINDS: Final = ("one replica", "two replicas", "two processes on one port")
_JOB, _POD = b"job-000000", b"bert-worker-000000"
_jobs = itertools.count()
"""No run has the jobs of an earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """Processes that serve together."""

    ports: list[int]
    pids: list[int]
    logs: list[Path]

    def seconds(self) -> list[float]:
        """Processor time of each process so far."""
        return [processes.Server(pid=pid, seconds_to_ready=0).cpu_seconds() for pid in self.pids]

    def megabytes(self) -> float:
        """Resident memory of all processes; each page that they share counts once."""
        rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() for pid in self.pids)
        return sum(int(line.split()[1]) / 1024 for lines in rollups for line in lines if line.startswith("Pss:"))

    def log_sizes(self) -> list[int]:
        return [log.stat().st_size for log in self.logs]

    def decisions(self, after: list[int]) -> Iterator[dict[str, Any]]:
        """The decisions in the logs after these sizes."""
        for log, size in zip(self.logs, after, strict=True):
            with log.open("rb") as lines:
                lines.seek(size)
                yield from (json.loads(line) for line in lines if b'"event":"decision"' in line)


@dataclass(slots=True)
class Load:
    """The answers that clients got."""

    pods: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    """One of each answered review, from its request."""
    late: int = 0
    """Reviews without an answer of 200 within the timeout of their webhook."""


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        sections.publish("cores", lambda: "\n".join(report(Path(directory))), description=__doc__)


def report(directory: Path) -> Iterator[str]:
    issue.ensure(directory, names=["localhost", "127.0.0.1"])
    cores = len(os.sched_getaffinity(0))
    yield (
        f"{RATE:,} Pods in a second for {SECONDS} s, a tenth of them fresh; {cores} processors, which the client "
        f"shares; load of the machine (a minute) {os.getloadavg()[0]:.1f} before."
    )
    yield ""
    yield (
        "| servers | beside processes | Pods in a second | decided: p50 ms | p99 ms | from arrival to answer: p99 ms "
        "| seen by the client: p99 ms | late or refused | processor ms for a Pod | Pods in a second on a core "
        "| of the work, the busier process | MB together | MB for 1,000 Pods in a second |"
    )
    yield f"| --- | {' | '.join(['---:'] * 12)} |"
    for kind in KINDS:
        for others in (0, max(1, cores // 2)):
            with serving(directory, kind) as servers:
                asyncio.run(sent(servers, directory, rate=RATE / 5, seconds=2))
                sizes, before = servers.log_sizes(), servers.seconds()
                with burning(others):
                    load = asyncio.run(sent(servers, directory, rate=RATE, seconds=SECONDS))
                time.sleep(1)  # the last decisions are logged after their answers
                spent = [now - then for now, then in zip(servers.seconds(), before, strict=True)]
                yield row(kind, others, load, list(servers.decisions(sizes)), spent, servers.megabytes())
    yield ""
    yield f"The limit is {LIMIT:.0f} ms for 99 of 100 decisions. Load of the machine after: {os.getloadavg()[0]:.1f}."


def row(  # noqa: PLR0913, PLR0917 - the parts of a row
    kind: str, others: int, load: Load, decisions: list[dict[str, Any]], spent: list[float], megabytes: float
) -> str:
    decided = [float(line["phases"]["decided"]) for line in decisions]
    whole = [float(line["milliseconds"]) for line in decisions]
    p50, p99 = (client.percentile(decided, share) for share in (0.5, 0.99))
    arrival = client.percentile(whole, 0.99)
    seen = client.percentile(load.latencies, 0.99) * 1000
    of_a_pod = sum(spent) / load.pods
    on_a_core = 1 / of_a_pod
    return (
        f"| {kind} | {others} | {load.pods / load.seconds:,.0f} | {p50:.2f} | {p99:.1f} | {arrival:.1f} | {seen:.1f} "
        f"| {load.late} of {2 * load.pods} | {of_a_pod * 1000:.2f} | {on_a_core:,.0f} | {max(spent) / sum(spent):.2f} "
        f"| {megabytes:.0f} | {megabytes / len(spent) / on_a_core * 1000:.0f} |"
    )


@contextlib.contextmanager
def serving(directory: Path, kind: str) -> Iterator[Servers]:
    """Servers that are ready."""
    with contextlib.ExitStack() as stack:
        ports, pids, logs = list[int](), list[int](), list[Path]()
        for number in range(2 if kind == "two replicas" else 1):
            port, admin, second = (processes.free_port() for _ in range(3))
            shared = [Path(__file__).with_name("shared_port_server.py"), str(second)]
            start = shared if kind == "two processes on one port" else ["-m", "usher"]
            log = directory / f"{kind}-{number}.log"
            command: list[str | Path] = [
                sys.executable, *start, "serve", "--certificate", directory / "tls.crt",
                "--key", directory / "tls.key", "--host", "127.0.0.1", "--port", str(port),
                "--admin-port", str(admin), "--config", ROOT / "examples/usher.yaml",
            ]  # fmt: skip
            server = stack.enter_context(
                processes.running(command, ready_url=f"http://127.0.0.1:{admin}/readyz", log=log)
            )
            ports.append(port)
            logs.append(log)
            pids += [server.pid, *forks_of(server.pid)]
            if kind == "two processes on one port":
                processes.wait_for(f"http://127.0.0.1:{second}/readyz")
        yield Servers(ports=ports, pids=pids, logs=logs)


def forks_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextlib.contextmanager
def burning(number: int) -> Iterator[None]:
    """Processes that each want a processor, while the context lasts and for at most some minutes."""
    code = f"import time\nend = time.monotonic() + {SECONDS * 4}\nwhile time.monotonic() < end: pass"
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(number)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


async def sent(servers: Servers, directory: Path, *, rate: float, seconds: float) -> Load:
    """Both reviews of Pods at a rate, over kept connections that are spread over the ports."""
    context = ssl.create_default_context(cafile=directory / "ca.crt")
    load, began, pods = Load(), time.perf_counter(), iter(range(int(rate * seconds)))
    body = objects.review(objects.gpu_pod(container=_JOB.decode())).replace(b"bert-worker-0", _POD)
    first = next(_jobs) * 10_000

    async def connection(port: int) -> None:
        pair = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
        for number in pods:
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            # Pods of forty jobs come in turn, as in a busy cluster.
            job = number // (40 * PODS_OF_A_JOB) * 40 + number % 40
            own = body.replace(_JOB, b"job-%06d" % (first + job)).replace(_POD, b"bert-worker-%06d" % number)
            for path, timeout in TIMEOUTS.items():
                answer = await overload.ask(*pair, own, limit=timeout, path=path)
                load.latencies.append(answer.seconds)
                load.late += answer.status != 200 or answer.seconds > timeout
            load.pods += 1

    await asyncio.gather(*(connection(servers.ports[each % len(servers.ports)]) for each in range(CONNECTIONS)))
    load.seconds = time.perf_counter() - began
    return load


if __name__ == "__main__":
    main()
