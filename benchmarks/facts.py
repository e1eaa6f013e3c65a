"""Measures the cost of knowing a large cluster and charging its quotas: seconds from the start, and memory."""

import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

import cluster_objects
import cluster_server
import json_server
import processes
import sections
import yardstick
from usher.server.certs import issue

ROUNDS = 3
NODES = 5_000
SECONDS = 30.0
MEGABYTES = 400.0
SETTLED = 0.1
"""Share of a processor. Below it a server is idle."""
LONGEST = 180.0
"""Seconds in which a server must become idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    to_ready: float
    to_charging: float | None
    resident: float
    most: float
    events: int
    milliseconds: float
    """Seconds of processor time for all events."""
    resident_after: float
    most_after: float


def main() -> None:
    sections.publish("facts", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        issue.ensure(directory, names=["localhost"], now=datetime.now(UTC))
        alone = [measured(directory, port=0) for _ in range(ROUNDS)]
        watching = []
        for _ in range(ROUNDS):
            port = processes.free_port()
            with cluster(port, nodes=NODES, directory=directory):
                watching.append(measured(directory, port=port))
        standard = statistics.median(yardstick.measured(yardstick.add_up) for _ in range(9))
    head = (
        "| server | seconds to ready: median (min-max) | until everything is listed | resident MB | at most "
        "| resident MB after churn | at most |"
    )
    return [
        f"{listed()}; {ROUNDS} rounds.",
        "",
        head,
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        row("without a cluster", alone),
        row("with this cluster", watching),
        f"| limit | {SECONDS:.0f} | | {MEGABYTES:.0f} | {MEGABYTES:.0f} | {MEGABYTES:.0f} | {MEGABYTES:.0f} |",
        "",
        share(watching),
        "",
        churned(watching, standard),
    ]


def listed() -> str:
    """The number of objects of each kind in the cluster."""
    found = cluster_objects.kinds(NODES).items()
    return ", ".join(f"{each.count:,} {path.rpartition('/')[2]}" for path, each in found if each.count)


def cluster(port: int, *, nodes: int, directory: Path) -> AbstractContextManager[processes.Server]:
    """A cluster with this number of nodes."""
    command = [sys.executable, cluster_server.__file__, str(port), str(nodes)]
    url = f"http://127.0.0.1:{port}/api/v1/pods?limit=1"
    return processes.running(command, ready_url=url, log=directory / "cluster.log")


def usher(directory: Path, *, admin_port: int, port: int = 0, cluster_port: int = 0) -> list[str | Path]:
    """The command of a server; without the port of a cluster it watches no cluster."""
    command: list[str | Path] = [
        *(sys.executable, "-m", "usher", "serve", "--host=127.0.0.1", f"--port={port}", f"--admin-port={admin_port}"),
        *(f"--certificate={directory / 'tls.crt'}", f"--key={directory / 'tls.key'}"),
    ]
    return [*command, "--live", f"--kubeconfig={kubeconfig(directory, cluster_port)}"] if cluster_port else command


def measured(directory: Path, *, port: int) -> Figures:
    """Runs a server from its start to the end of ten minutes of the cluster; without a port it watches no cluster."""
    admin_port, log = processes.free_port(), directory / "usher.log"
    command = usher(directory, admin_port=admin_port, cluster_port=port)
    started = time.monotonic()
    with processes.running(command, ready_url=f"http://127.0.0.1:{admin_port}/readyz", log=log) as server:
        to_charging = None
        if port:
            observed(log)
            to_charging = time.monotonic() - started
        settle(server)
        resident, most = server.resident_megabytes(), server.most_resident_megabytes()
        before, events = server.cpu_seconds(), churn(port) if port else {}
        settle(server)
        return Figures(
            to_ready=server.seconds_to_ready,
            to_charging=to_charging,
            resident=resident,
            most=most,
            events=sum(events.values()),
            milliseconds=(server.cpu_seconds() - before) * 1000,
            resident_after=server.resident_megabytes(),
            most_after=server.most_resident_megabytes(),
        )


def observed(log: Path) -> None:
    """Waits until the server has listed everything."""
    until = time.monotonic() + LONGEST
    while b'"workloads_observed"' not in log.read_bytes():
        if time.monotonic() > until:
            raise RuntimeError(f"the server has not listed everything:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)


def settle(server: processes.Server) -> None:
    """Waits until a server is idle."""
    until = time.monotonic() + LONGEST
    before = server.cpu_seconds()
    while time.monotonic() < until:
        time.sleep(3)
        now = server.cpu_seconds()
        if now - before < SETTLED * 3:
            return
        before = now


def churn(port: int) -> Mapping[str, int]:
    """Sends the events of ten minutes of the cluster, and returns their number by path."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/churn", method="POST", data=b"")
    with urllib.request.urlopen(request, timeout=LONGEST) as response:
        told: Mapping[str, int] = orjson.loads(response.read())
    return told


def kubeconfig(directory: Path, port: int) -> Path:
    file = directory / f"kubeconfig-{port}"
    json_server.write_kubeconfig(file, port)
    return file


def row(name: str, figures: list[Figures]) -> str:
    charging = [each.to_charging for each in figures if each.to_charging is not None]
    cells = [
        spread([each.to_ready for each in figures], digits=1),
        spread(charging, digits=1) if charging else "",
        spread([each.resident for each in figures], digits=0),
        spread([each.most for each in figures], digits=0),
        spread([each.resident_after for each in figures], digits=0),
        spread([each.most_after for each in figures], digits=0),
    ]
    return " | ".join([f"| {name}", *cells]) + " |"


def spread(values: list[float], *, digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def share(figures: list[Figures]) -> str:
    seconds = statistics.median(each.to_charging or each.to_ready for each in figures)
    megabytes = statistics.median(each.most_after for each in figures)
    return (
        f"Listing everything takes {seconds / SECONDS:.2f} of the time limit, and the most memory is "
        f"{megabytes / MEGABYTES:.2f} of the memory limit."
    )


def churned(figures: list[Figures], standard: float) -> str:
    per_thousand = statistics.median(each.milliseconds / each.events * 1000 for each in figures)
    return (
        f"Ten minutes of the cluster are {figures[0].events:,} events: two heartbeats of every node, 1,000 pods that "
        "start and end, and the status of queues and quotas. 1,000 of them take "
        f"{per_thousand:.0f} ms of processor time, {per_thousand / standard:.0f} times the {yardstick.NAME}; "
        f"all of them take {per_thousand * figures[0].events / 1000 / 600_000:.1%} of a processor in ten minutes."
    )


if __name__ == "__main__":
    main()
