"""Measures processor time per review, of our server and of a real OPA that evaluates the same Rego.

Both servers run on loopback at the same time. The benchmark measures them in turn, so a change of the machine's speed
affects both. Processor time is read from /proc, to the nanosecond; the client runs in its own process.
"""

import asyncio
import contextlib
import os
import platform
import ssl
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson

import client
import objects
import processes
import sections
import yardstick
from usher import paths
from usher.config.load import load
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.server.certs import issue
from usher.workloads.normalise import normalise

ROOT = Path(__file__).parents[1]
ROUNDS = 7
REQUESTS = 1500
LOADS = (1, 8, 32)
OPA = "`opa run -s` without TLS, the same findings"


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        sections.publish("review", lambda: asyncio.run(measure(Path(directory))), description=__doc__)


async def measure(directory: Path) -> str:
    issue.ensure(directory, names=["localhost", "127.0.0.1"])
    context = ssl.create_default_context(cafile=directory / "ca.crt")
    configuration = ROOT / "examples" / "usher.yaml"
    port, admin_port, opa_port = (processes.free_port() for _ in range(3))
    usher: list[str | Path] = [
        ROOT / ".venv/bin/usher", "serve", "--certificate", directory / "tls.crt", "--key", directory / "tls.key",
        "--host", "127.0.0.1", "--port", str(port), "--admin-port", str(admin_port), "--config", configuration,
    ]  # fmt: skip
    opa: list[str | Path] = [
        ROOT / ".tools/bin/opa", "run", "--server", "--addr", f"127.0.0.1:{opa_port}", "--log-level", "error",
        "--ignore", "*_test.rego", "--ignore", "*.yaml", ROOT / "policies/usher",
    ]  # fmt: skip
    evaluator = assembly.embedded(load(configuration))
    job = [objects.review(objects.gpu_pod(index=number)) for number in range(REQUESTS)]
    pods = [objects.gpu_pod(index=number, container=f"pytorch-{number}") for number in range(REQUESTS)]
    different = [objects.review(pod) for pod in pods]
    replicas = [objects.review(objects.service_pod(number)) for number in range(REQUESTS)]
    lonely = [objects.review(objects.service_pod(number, container=f"web-{number}")) for number in range(REQUESTS)]
    questions = [b'{"input":%b}' % input_document(evaluator, pod) for pod in pods]
    targets = {
        "`/validate` over TLS, distinct pods": client.Target(
            port=port, path="/validate", bodies=different, context=context
        ),
        "`/validate` over TLS, pods of one job": client.Target(
            port=port, path="/validate", bodies=job, context=context
        ),
        "`/mutate` over TLS, distinct pods": client.Target(
            port=port, path="/mutate", bodies=different, context=context
        ),
        "`/mutate` over TLS, distinct service pods without a mutation": client.Target(
            port=port, path="/mutate", bodies=lonely, context=context
        ),
        "`/mutate` over TLS, pods of one ReplicaSet without a mutation": client.Target(
            port=port, path="/mutate", bodies=replicas, context=context
        ),
        OPA: client.Target(port=opa_port, path="/v1/data/usher/main/findings", bodies=questions),
    }
    with (
        _as_in_an_image(directory),
        processes.running(
            usher, ready_url=f"http://127.0.0.1:{admin_port}/readyz", log=directory / "usher.log"
        ) as ours,
        processes.running(opa, ready_url=f"http://127.0.0.1:{opa_port}/health", log=directory / "opa.log") as theirs,
    ):
        costs: dict[str, list[float]] = {name: [] for name in (*targets, yardstick.NAME)}
        for number in range(ROUNDS + 1):
            for name, target in targets.items():
                server = theirs if name == OPA else ours
                before = server.cpu_seconds()
                await client.send(target, requests=REQUESTS, connections=4)
                if number:  # the first round is a warm-up
                    costs[name].append((server.cpu_seconds() - before) / REQUESTS * 1000)
            costs[yardstick.NAME].append(yardstick.measured(yardstick.add_up))
        first = next(iter(targets.values()))
        latencies = {
            connections: await client.send(first, requests=4000, connections=connections) for connections in LOADS
        }
        return report(costs, latencies, ours=ours, body=len(different[0]), question=len(questions[0]))


@contextlib.contextmanager
def _as_in_an_image(directory: Path) -> Iterator[None]:
    """The next servers start from compiled policies, and without what structlog imports wherever it is installed."""
    for name in ("rich", "greenlet"):
        (directory / f"{name}.py").write_text('raise ImportError("left out, as in an image")\n')
    compiled, before = assembly.compile_ahead(), os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{directory}:{before}"
    try:
        yield
    finally:
        os.environ["PYTHONPATH"] = before
        compiled.unlink()


def input_document(evaluator: Evaluator, pod: paths.Object) -> bytes:
    workload = normalise(pod, vocabulary=evaluator.vocabulary)
    assert workload is not None
    return evaluator.documents.build(workload)


def report(
    costs: dict[str, list[float]],
    latencies: dict[int, list[float]],
    *,
    ours: processes.Server,
    body: int,
    question: int,
) -> str:
    opa = statistics.median(costs[OPA])
    catalogue = orjson.loads((ROOT / "policies/catalogue.json").read_bytes())
    setting = (
        f"Pod of {len(orjson.dumps(objects.gpu_pod()))} bytes (review {body}, OPA input {question}), "
        f"{len(catalogue['checks'])} checks and {len(catalogue['mutations'])} mutations, configuration "
        f"`examples/usher.yaml`; {ROUNDS} rounds of {REQUESTS} requests in turn; Python {platform.python_version()}."
    )
    lines = [
        setting,
        "",
        "| server | processor ms per request: median (min-max) | against OPA |",
        "| --- | ---: | ---: |",
    ]
    for name, values in costs.items():
        median = statistics.median(values)
        lines.append(f"| {name} | {median:.3f} ({min(values):.3f}-{max(values):.3f}) | {median / opa:.2f} |")
    lines += ["", "| connections at once | p50 ms | p90 ms | p99 ms |", "| ---: | ---: | ---: | ---: |"]
    for connections, values in latencies.items():
        figures = " | ".join(f"{client.percentile(values, share) * 1000:.2f}" for share in (0.5, 0.9, 0.99))
        lines.append(f"| {connections} | {figures} |")
    lines += [
        "",
        (
            f"Ready {ours.seconds_to_ready:.2f} s after its start; {ours.resident_megabytes():.0f} MB resident "
            "afterwards, with compiled policies and without rich, as in an image."
        ),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
