"""Measures reviews of usher beside Gatekeeper and Kyverno: processor time of each server for a review over TLS.

The pods are those of `fresh`. Gatekeeper and Kyverno judge them by the rules in `benchmarks/peers`, usher by all checks
and by the five that say the same. A server sees a fresh review for the first time; a remembered one it has answered
twice. The servers take turns, and the least of the rounds counts. The ratios are to Kyverno in the same run, for
`/mutate` to its verdict about the same pods. `--compare PAGE` fails if one is 10 % worse than the page says.

A real API server gives Gatekeeper and Kyverno their rules. Go builds both where they are missing. They write no events
and no reports. All servers listen on loopback and end with the benchmark.
"""

import asyncio
import base64
import contextlib
import http.client
import json
import os
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import yaml

import built_peers
import client
import fresh
import objects
import processes
import review_parts
import sections
from e2e import api_server_alone, ports
from e2e import processes as servers
from e2e.cluster import ApiError, Cluster, Object, condition, wait_until

ROOT = Path(__file__).parents[1]
ROUNDS = 8
"""After one that warms up."""
REVIEWS = 200
"""In each round, of each row."""
CONNECTIONS = 4

KYVERNO, GATEKEEPER, FIVE = "Kyverno", "Gatekeeper", "usher, the five rules"
MUTATE, VALIDATE = "/mutate", "/validate"
FRESH, REMEMBERED = "fresh", "remembered"
SITES = {f"usher, {name}": site for name, site in fresh.SITES.items()}
RATIOS = (GATEKEEPER, FIVE, *SITES)
GOAL = 0.5
"""The most that a review may take of Kyverno's time."""

FILE_OF_FIVE = "benchmarks/peers/usher.yaml"
NAMESPACES = {"gatekeeper": "gatekeeper-system", "kyverno": "kyverno"}
ENVIRONMENT = {
    "KYVERNO_NAMESPACE": "kyverno",
    "KYVERNO_SERVICEACCOUNT_NAME": "kyverno",
    "KYVERNO_DEPLOYMENT": "kyverno",
    "KYVERNO_POD_NAME": "kyverno",
    "INIT_CONFIG": "kyverno",
    "METRICS_CONFIG": "kyverno-metrics",
}
"""Kyverno does not start without these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server, which answers reviews at `path`."""

    running: servers.Running
    cluster: Cluster
    port: int
    path: str = VALIDATE

    async def measure(self, bodies: Sequence[bytes], path: str = "") -> float:
        """Milliseconds of processor time for a review."""
        target = client.Target(
            port=self.port, path=path or self.path, bodies=bodies, context=self.cluster.tls, tries=10
        )
        process = processes.Server(pid=self.running.process.pid, seconds_to_ready=0)
        before = process.cpu_seconds()
        await client.send(target, requests=len(bodies), connections=CONNECTIONS)
        return (process.cpu_seconds() - before) / len(bodies) * 1000

    def refused(self, bodies: Sequence[bytes]) -> list[int]:
        """The places of the bodies that it denies or warns of."""
        connection = http.client.HTTPSConnection(servers.LOOPBACK, self.port, timeout=10, context=self.cluster.tls)
        found = []
        with contextlib.closing(connection):
            for place, body in enumerate(bodies):
                connection.request("POST", self.path, body, {"Content-Type": "application/json"})
                answer = orjson.loads(connection.getresponse().read())["response"]
                if not answer["allowed"] or answer.get("warnings"):
                    found.append(place)
        return found


Row = tuple[str, str, str]
"""Kind of the pods, path and whether they are fresh."""


def main() -> None:
    sections.publish("admission_peers", lambda: asyncio.run(measure()), description=__doc__, ratios=RATIOS)


async def measure() -> str:
    programs = {name: built_peers.peer(name) for name in ("gatekeeper", "kyverno")}
    with tempfile.TemporaryDirectory() as name, api_server_alone.prepared(Path(name)) as alone:
        alone.start()
        for each in {name for _, name, _ in SITES.values()}:
            alone.cluster.create(namespace(each))
        with contextlib.ExitStack() as stack:
            peers = {
                KYVERNO: stack.enter_context(kyverno(alone.cluster, programs["kyverno"])),
                GATEKEEPER: stack.enter_context(gatekeeper(alone.cluster, programs["gatekeeper"])),
            }
            own = {
                each: stack.enter_context(usher(alone.cluster, each))
                for each in {FILE_OF_FIVE, *(file for file, *_ in SITES.values())}
            }
            taken = await rounds(peers, own)
        least = {key: min(values) for key, values in taken.items()}
        lines = list(report(least))
        lines += [await parts(alone.cluster, row, site) for row, site in above(least)]
        return "\n".join(lines)


async def rounds(peers: Mapping[str, Server], own: Mapping[str, Server]) -> dict[tuple[Row, str], list[float]]:
    """The milliseconds of each row in each column, one for each round."""
    bodies = {
        (kind, site): fresh.bodies(*SITES[site], kind, REVIEWS * (ROUNDS + 1)) for kind in fresh.PODS for site in SITES
    }
    plain = next(iter(SITES))
    by_five = {**peers, FIVE: own[FILE_OF_FIVE]}
    for kind in fresh.PODS:
        for name, server in by_five.items():
            expect_equal(name, server, bodies[kind, plain][VALIDATE][: 4 * objects.WRONG_IN])
    taken: dict[tuple[Row, str], list[float]] = defaultdict(list)
    for number in range(ROUNDS + 1):
        for kind in fresh.PODS:
            now = slice(number * REVIEWS, (number + 1) * REVIEWS)
            for name, server in by_five.items():
                value = await server.measure(bodies[kind, plain][VALIDATE][now])
                taken[(kind, VALIDATE, FRESH), name].append(value)
            for site, (file, *_) in SITES.items():
                for path, sent in bodies[kind, site].items():
                    first, _, third = [await own[file].measure(sent[now], path) for _ in range(3)]
                    taken[(kind, path, FRESH), site].append(first)
                    taken[(kind, path, REMEMBERED), site].append(third)
    return {key: values[1:] for key, values in taken.items()}


def expect_equal(name: str, server: Server, bodies: Sequence[bytes]) -> None:
    """Waits until a server finds the wrong pods, and no other.

    Raises:
        TimeoutError: it does not, so its rules are not those of the others.
    """
    wrong = [place for place in range(len(bodies)) if objects.is_wrong(place)]
    wait_until(lambda: server.refused(bodies) == wrong, description=f"{name} finds only pods {wrong}")


@contextlib.contextmanager
def usher(cluster: Cluster, file: str, *, program: Sequence[str] = ("-m", "usher")) -> Iterator[Server]:
    """Usher with a configuration."""
    port, admin_port = ports.free(2)
    certificate, key = _pair(cluster).values()
    arguments = [
        "serve", f"--certificate={certificate}", f"--key={key}", f"--host={servers.LOOPBACK}", f"--port={port}",
        f"--admin-port={admin_port}", "--facts=none", *([f"--config={ROOT / file}"] if file else []),
    ]  # fmt: skip
    health = f"http://{servers.LOOPBACK}:{admin_port}/readyz"
    with started(cluster, f"usher-{port}", [sys.executable, *program, *arguments], health=health) as running:
        yield Server(running=running, cluster=cluster, port=port)


@contextlib.contextmanager
def gatekeeper(cluster: Cluster, program: str | None) -> Iterator[Server]:
    """Gatekeeper with its webhook alone, its rules in one template."""
    define(cluster, "gatekeeper")
    port, health = ports.free(2)
    certificates = cluster.directory / "gatekeeper"
    certificates.mkdir()
    for each, path in _pair(cluster).items():
        (certificates / each).symlink_to(path)
    arguments = [
        "--operation=webhook", "--operation=generate", f"--host={servers.LOOPBACK}", f"--port={port}",
        f"--health-addr={servers.LOOPBACK}:{health}",
        f"--cert-dir={certificates}", "--disable-cert-rotation", f"--kubeconfig={cluster.kubeconfig}",
        "--debug-use-fake-pod", "--shutdown-delay=0", "--disable-opa-builtin={http.send}",
        # Its other way to tell metrics listens on all addresses. No server is at this one, and it sends once an hour.
        "--metrics-backend=opentelemetry", f"--otlp-endpoint={servers.LOOPBACK}:9", "--otlp-metric-interval=1h",
    ]  # fmt: skip
    ready = f"http://{servers.LOOPBACK}:{health}/readyz"
    with started(cluster, "gatekeeper", [program, *arguments], health=ready) as running:
        for file in ("template.yaml", "constraint.yaml"):
            _create(cluster, yaml.safe_load((built_peers.RULES / "gator" / file).read_text()))
        yield Server(running=running, cluster=cluster, port=port, path="/v1/admit")


@contextlib.contextmanager
def kyverno(cluster: Cluster, program: str | None) -> Iterator[Server]:
    """The admission controller of Kyverno."""
    define(cluster, "kyverno")
    port, metrics = ports.free(2)
    authority = {"tls.crt": cluster.ca_file}
    for name in ("kyverno", "kyverno-metrics"):
        _create(cluster, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kyverno"}})
    for name, files in (("authority", authority), ("pair", _pair(cluster))):
        data = {key: base64.b64encode(file.read_bytes()).decode() for key, file in files.items()}
        metadata = {"name": name, "namespace": "kyverno"}
        _create(cluster, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    arguments = [
        f"--kubeconfig={cluster.kubeconfig}", f"--serverIP={servers.LOOPBACK}:{port}",
        f"--webhookServerHost={servers.LOOPBACK}", f"--webhookServerPort={port}",
        "--caSecretName=authority", "--tlsSecretName=pair", "--disableCertManagerController",
        f"--metricsHost={servers.LOOPBACK}", f"--metricsPort={metrics}", "--controllerRuntimeMetricsAddress=0",
        "--admissionReports=false", "--omitEvents=PolicyViolation,PolicyApplied,PolicyError,PolicySkipped",
    ]  # fmt: skip
    ready = f"https://{servers.LOOPBACK}:{port}/health/readiness"
    with started(cluster, "kyverno", [program, *arguments], health=ready) as running:
        policy = yaml.safe_load((built_peers.RULES / "kyverno.yaml").read_text())
        _create(cluster, policy)
        yield Server(running=running, cluster=cluster, port=port, path=f"/vpol/{policy['metadata']['name']}")


@contextlib.contextmanager
def started(cluster: Cluster, name: str, command: Sequence[str | None], *, health: str) -> Iterator[servers.Running]:
    """A server that is ready, until the context is left."""
    if command[0] is None:
        raise SystemExit(f"{name} is missing, and Go, which could build it")
    running = servers.start(
        name,
        [each for each in command if each],
        health=health,
        log=cluster.directory / f"{name}.log",
        env={"HOME": str(cluster.directory), "PYTHONPATH": str(ROOT / "webhooks"), **ENVIRONMENT},
    )
    try:
        servers.wait_until_ready([running], tls=cluster.tls)
        yield running
    finally:
        servers.stop(running.process)


def define(cluster: Cluster, name: str) -> None:
    """Creates the definitions that a server reads, and its namespace."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    files = sorted(built_peers.definitions(name).iterdir())
    made = {
        cluster.request("POST", path, body=each.read_text(), content="yaml").body["metadata"]["name"] for each in files
    }

    def established() -> bool:
        found = cluster.request("GET", path).body["items"]
        good = {each["metadata"]["name"] for each in found if condition(each, "Established").get("status") == "True"}
        return made <= good

    wait_until(established, description=f"the definitions of {name} are established")
    cluster.create(namespace(NAMESPACES[name]))


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _create(cluster: Cluster, value: Object) -> None:
    """Creates an object when its kind is served and nothing refuses it any more."""

    def created() -> bool:
        try:
            cluster.create(value)
        except ApiError:
            return False
        return True

    wait_until(created, description=f"{value['kind']} {value['metadata']['name']} can be created")


def _pair(cluster: Cluster) -> dict[str, Path]:
    """The certificate and the key of all servers."""
    return {"tls.crt": cluster.directory / "server.crt", "tls.key": cluster.directory / "server.key"}


Least = Mapping[tuple[Row, str], float]


def report(least: Least) -> Iterator[str]:
    yield f"The least of {ROUNDS} rounds of {REVIEWS} reviews for each figure; a tenth of the pods are wrong."
    yield ""
    yield f"| pods | reviews | {KYVERNO}: ms | {' | '.join(RATIOS)} |"
    yield f"| --- | --- {'| ---: ' * (1 + len(RATIOS))}|"
    for row in rows(least):
        kind, path, freshness = row
        # Peers remember nothing, so each kind has one figure of theirs.
        has_peers = path == VALIDATE and (freshness == FRESH or kind == "job")
        own = f"{least[peer_row(row), KYVERNO]:.3f}" if has_peers else ""
        cells = [f"{ratio(least, row, name):.2f}" if name in SITES or has_peers else "" for name in RATIOS]
        yield f"| {fresh.PODS[kind]} | `{path}`, {freshness} | {own} | {' | '.join(cells)} |"
    yield ""
    yield f"The parts of the figures above {GOAL:.2f}, in hundredths. A {review_parts.SECOND} includes what it calls."
    yield ""
    columns = (*review_parts.PARTS, review_parts.OUTSIDE)
    yield f"| pods | reviews | server | {' | '.join(columns)} |"
    yield f"| --- | --- | --- {'| ---: ' * len(columns)}|"


def rows(least: Least) -> list[Row]:
    """Pods of one job are remembered, so they have no fresh ones."""
    order = {VALIDATE: 0, MUTATE: 2, FRESH: 0, REMEMBERED: 1}
    found = {row for row, _ in least if row[0] != "job" or row[2] == REMEMBERED}
    return sorted(found, key=lambda row: ([*fresh.PODS].index(row[0]), order[row[1]] + order[row[2]]))


def peer_row(row: Row) -> Row:
    return row[0], VALIDATE, FRESH


def ratio(least: Least, row: Row, name: str) -> float:
    return least[row if name in SITES else peer_row(row), name] / least[peer_row(row), KYVERNO]


def above(least: Least) -> Iterator[tuple[Row, str]]:
    """The figures of usher that do not reach the goal."""
    for row in rows(least):
        yield from ((row, site) for site in SITES if ratio(least, row, site) > GOAL)


async def parts(cluster: Cluster, row: Row, site: str) -> str:
    """The line about the parts of the reviews of a row, from a server that counts them."""
    kind, path, freshness = row
    file, remembered = SITES[site][0], freshness == REMEMBERED
    bodies = fresh.bodies(*SITES[site], kind, 3 * REVIEWS)[path]
    counted = cluster.directory / "parts.json"
    program = [str(ROOT / "benchmarks" / "review_parts.py"), str(counted)]
    with usher(cluster, file, program=program) as server:
        bodies, warm = (bodies[:REVIEWS] * 4, 2 * REVIEWS) if remembered else (bodies, REVIEWS)
        await server.measure(bodies[:warm], path)
        before = _counted(server, counted)
        await server.measure(bodies[warm:], path)
        after = _counted(server, counted)
    taken = {part: after[part] - before[part] for part in after}
    whole = sum(taken.values())
    cells = " | ".join(f"{100 * value / whole:.0f}" for value in taken.values())
    return f"| {fresh.PODS[kind]} | `{path}`, {freshness} | {site} | {cells} |"


def _counted(server: Server, file: Path) -> dict[str, float]:
    os.kill(server.running.process.pid, signal.SIGUSR1)
    wait_until(file.exists, description="the parts are written")
    found: dict[str, float] = json.loads(file.read_text())
    file.unlink()
    return found


if __name__ == "__main__":
    main()
