"""Measures `usher audit` on clusters of up to 100,000 objects: processor time for each object, and memory."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sections

ROOT = Path(__file__).parents[1]
ROUNDS = 3
SIZES = ((10_000, 500, 0.33), (30_000, 1_300, 1.12), (100_000, 4_000, 3.84))
"""About how many objects are audited, with the number of nodes and the factor of `audit_server` for them."""

LIMIT_SECONDS, LIMIT_MEGABYTES = 60, 500
PORT = 18_470


@dataclass(frozen=True, slots=True)
class Taken:
    objects: int
    seconds: float
    processor: float
    megabytes: float


def main() -> None:
    sections.publish("audit", lambda: "\n".join(report()), description=__doc__)


def report() -> Iterator[str]:
    yield f"Rounds: {ROUNDS}; {len(os.sched_getaffinity(0))} processors, the API server beside."
    yield ""
    yield "| source | objects | processor s: median (min-max) | ms for each object | s of the clock | MB at most |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for place, (_, nodes, factor) in enumerate(SIZES):
        with serving(PORT + place, nodes, factor) as kubeconfig, tempfile.TemporaryDirectory() as folder:
            yield row("cluster", [audited("--kubeconfig", kubeconfig) for _ in range(ROUNDS)])
            facts, objects = Path(folder) / "facts.json", Path(folder) / "objects"
            snapshot = ("snapshot", "--kubeconfig", kubeconfig, "--output", facts, "--objects", objects)
            subprocess.run([usher(), *snapshot], stdout=subprocess.DEVNULL, check=True)
            yield row("snapshot", [audited(objects, "--facts", facts) for _ in range(ROUNDS)])
    yield f"| limit | 100,000 | | | {LIMIT_SECONDS} | {LIMIT_MEGABYTES} |"


def row(source: str, runs: list[Taken]) -> str:
    processor = [each.processor for each in runs]
    middle, objects = statistics.median(processor), runs[0].objects
    spread = f"{middle:.1f} ({min(processor):.1f}-{max(processor):.1f})"
    return (
        f"| {source} | {objects:,} | {spread} | {1000 * middle / objects:.2f} | "
        f"{statistics.median(each.seconds for each in runs):.1f} | {max(each.megabytes for each in runs):.0f} |"
    )


@contextmanager
def serving(port: int, nodes: int, factor: float) -> Iterator[Path]:
    """The kubeconfig of an API server that has written its objects."""
    command = [sys.executable, str(ROOT / "benchmarks" / "audit_server.py"), str(port), str(nodes), str(factor)]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: bench\n"
            "contexts: [{name: bench, context: {cluster: c, user: u}}]\n"
            f'clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}]\n'
            "users: [{name: u, user: {token: x}}]\n"
        )
        try:
            yield kubeconfig
        finally:
            server.terminate()


def usher() -> str:
    return str(Path(sys.executable).parent / "usher")


def audited(*source: str | Path) -> Taken:
    with tempfile.NamedTemporaryFile() as output:
        command = [usher(), "audit", *map(str, source), "--output", output.name]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        last = Path(output.name).read_text().splitlines()[-1]
    if process.returncode:
        raise SystemExit(f"the audit ended with {process.returncode}: {last}")
    objects = int(last.partition(" objects")[0].replace(",", ""))
    return Taken(objects, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


if __name__ == "__main__":
    main()
