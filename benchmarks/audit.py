"""Measures `usher audit` on clusters of up to 100,000 objects: processor time for each object, and memory."""

import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import commands
import json_server
import sections

ROUNDS = 3
SIZES = ((10_000, 500, 0.33), (30_000, 1_300, 1.12), (100_000, 4_000, 3.84))
"""About how many objects are audited, with the number of nodes and the factor of `audit_server` for them."""

LIMIT_SECONDS, LIMIT_MEGABYTES = 60, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    objects: int
    taken: commands.Taken


def main() -> None:
    sections.publish("audit", lambda: "\n".join(report()), description=__doc__)


def report() -> Iterator[str]:
    yield f"Rounds: {ROUNDS}; {len(os.sched_getaffinity(0))} processors, the API server beside."
    yield ""
    yield "| source | objects | processor s: median (min-max) | ms for each object | s of the clock | MB at most |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for _, nodes, factor in SIZES:
        cluster = json_server.serving("audit_server.py", nodes, factor)
        with cluster as kubeconfig, tempfile.TemporaryDirectory() as folder:
            yield row("cluster", [audited("--kubeconfig", kubeconfig) for _ in range(ROUNDS)])
            facts, objects = Path(folder) / "facts.json", Path(folder) / "objects"
            snapshot = ("snapshot", "--kubeconfig", kubeconfig, "--output", facts, "--objects", objects)
            subprocess.run([commands.USHER, *snapshot], stdout=subprocess.DEVNULL, check=True)
            yield row("snapshot", [audited(objects, "--facts", facts) for _ in range(ROUNDS)])
    yield f"| limit | 100,000 | | | {LIMIT_SECONDS} | {LIMIT_MEGABYTES} |"


def row(source: str, runs: list[Audited]) -> str:
    processor = [each.taken.processor for each in runs]
    middle, objects = statistics.median(processor), runs[0].objects
    seconds = statistics.median(each.taken.seconds for each in runs)
    most = max(each.taken.megabytes for each in runs)
    spread = f"{middle:.1f} ({min(processor):.1f}-{max(processor):.1f})"
    return f"| {source} | {objects:,} | {spread} | {1000 * middle / objects:.2f} | {seconds:.1f} | {most:.0f} |"


def audited(*source: str | Path) -> Audited:
    with tempfile.NamedTemporaryFile() as output:
        taken = commands.timed([commands.USHER, "audit", *source, "--output", output.name])
        last = Path(output.name).read_text().splitlines()[-1]
    return Audited(objects=int(last.partition(" objects")[0].replace(",", "")), taken=taken)


if __name__ == "__main__":
    main()
