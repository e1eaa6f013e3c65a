"""Measures a review by a server that knows its cluster, with 50, 500 and 5,000 nodes, and by one without a cluster."""

import asyncio
import ssl
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import client
import cluster_objects
import facts
import objects
import processes
import sections
import yardstick
from usher import paths
from usher.server.certs import issue

ROUNDS = 3
REQUESTS = 300
NUMBERS = (0, 50, 500, 5000)
"""Numbers of nodes; with 0 the server watches no cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    name: str
    make: Callable[[int], paths.Object]
    requests: int = REQUESTS


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        sections.publish("informed", lambda: asyncio.run(measure(Path(directory))), description=__doc__)


async def measure(directory: Path) -> str:
    issue.ensure(directory, names=["localhost"], now=datetime.now(UTC))
    context = ssl.create_default_context(cafile=directory / "ca.crt")
    bodies = {each.name: [review(each.make(number)) for number in range(each.requests)] for each in QUESTIONS}
    costs: dict[tuple[str, int], list[float]] = {(name, number): [] for name in bodies for number in NUMBERS}
    standards = []
    with ExitStack() as stack:
        servers = {number: stack.enter_context(_server(directory, number)) for number in NUMBERS}
        for each in servers.values():
            facts.settle(each.process)
        for turn in range(ROUNDS + 1):
            for number, server in servers.items():
                for name, asked in bodies.items():
                    target = client.Target(port=server.port, path="/validate", bodies=asked, context=context)
                    before = server.process.cpu_seconds()
                    await client.send(target, requests=len(asked), connections=4)
                    if turn:  # the first round is a warm-up
                        costs[name, number].append((server.process.cpu_seconds() - before) / len(asked) * 1000)
            standards.append(yardstick.measured(yardstick.add_up))
    return report(costs, statistics.median(standards))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    process: processes.Server
    port: int


class _server:  # noqa: N801 - a context manager
    """A server, with its cluster if it has one; ready when it has listed everything."""

    def __init__(self, directory: Path, nodes: int) -> None:
        self._directory = directory
        self._nodes = nodes
        self._stack = ExitStack()

    def __enter__(self) -> _Server:
        port, admin_port, cluster_port = (processes.free_port() for _ in range(3))
        log = self._directory / f"usher-{self._nodes}.log"
        if self._nodes:
            self._stack.enter_context(facts.cluster(cluster_port, nodes=self._nodes, directory=self._directory))
        command = facts.usher(
            self._directory, admin_port=admin_port, port=port, cluster_port=cluster_port if self._nodes else 0
        )
        ready = f"http://127.0.0.1:{admin_port}/readyz"
        process = self._stack.enter_context(processes.running(command, ready_url=ready, log=log))
        if self._nodes:
            facts.observed(log)
        return _Server(process=process, port=port)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def owned_pod(index: int, *, container: str = "main") -> paths.Object:
    """A pod of a job that was charged and has half of its pods; the controller now makes the other half."""
    value = cluster_objects.pod(0, nodes=1)
    metadata, spec = value["metadata"], value["spec"]
    assert isinstance(metadata, dict)
    assert isinstance(spec, dict)
    del spec["nodeName"]
    spec["containers"][0]["name"] = container
    kept = {key: each for key, each in metadata.items() if key not in ("uid", "managedFields", "resourceVersion")}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**kept, "name": f"jobs-0-{index}"}, "spec": spec}


def pod_alone(index: int) -> paths.Object:
    """A pod without an owner, so it is charged itself."""
    value = owned_pod(index)
    metadata = value["metadata"]
    assert isinstance(metadata, dict)
    kept = {key: each for key, each in metadata.items() if key != "ownerReferences"}
    return {**value, "metadata": kept}


def queued_job(index: int) -> paths.Object:
    """A PyTorchJob with the label of a queue, whose namespace has a quota."""
    value = cluster_objects.pytorch_job(0, name=f"new-{index}")
    metadata = value["metadata"]
    assert isinstance(metadata, dict)
    kept = {key: each for key, each in metadata.items() if key not in ("uid", "managedFields", "resourceVersion")}
    spec = value["spec"]
    assert isinstance(spec, dict)
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": kept, "spec": spec}


QUESTIONS = (
    Question(name="distinct pods", make=lambda index: owned_pod(index, container=f"main-{index}")),
    Question(name="pods of one job", make=owned_pod),
    Question(name="pods without an owner", make=pod_alone),
    Question(name="PyTorchJobs with a queue", make=queued_job, requests=REQUESTS // 5),
)


def review(value: paths.Object) -> bytes:
    """A dry run, so that every round starts with the same quotas."""
    text = objects.review(value).replace(b'"dryRun":false', b'"dryRun":true')
    return text.replace(b'"namespace":"ml-research"', b'"namespace":"team-0"')


def report(costs: dict[tuple[str, int], list[float]], standard: float) -> str:
    setting = (
        f"{ROUNDS} rounds of {REQUESTS} requests to `/validate` (a fifth of them for jobs), all as dry runs; in the "
        f"cluster {cluster_objects.PODS:,} pods, {cluster_objects.QUEUES} ClusterQueues, "
        f"{cluster_objects.QUOTAS} GPUQuotas "
        f"and a ResourceQuota and a LimitRange in each of {cluster_objects.NAMESPACES} namespaces."
    )
    lines = [
        setting,
        "",
        "| review | nodes | processor ms per request: median (min-max) | of the yardstick | of no cluster |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for (name, number), values in costs.items():
        median, alone = statistics.median(values), statistics.median(costs[name, 0])
        cells = f"{median:.3f} ({min(values):.3f}-{max(values):.3f}) | {median / standard:.1f} | {median / alone:.2f}"
        lines.append(f"| {name} | {f'{number:,}' if number else 'no cluster'} | {cells} |")
    return "\n".join([*lines, "", f"The {yardstick.NAME} took {standard:.3f} ms."])


if __name__ == "__main__":
    main()
