"""Measures the audit of a cluster of a million objects in ten shards, and their merge.

An API server on loopback makes its objects while it lists them. The shards run one after the other, each in a process
of its own. The sums of the merge are those of the generator, or the benchmark fails.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cluster_objects
import commands
import json_server
import sections
from audit_server import scale
from commands import Taken
from usher.audit.store.shards import home_shard
from usher.kinds import registry

ROOT = Path(__file__).parents[1]
SHARDS = 10
NODES = 5_000
FACTOR = 40.6
"""Makes about a million objects."""

_GPUS = {"jobs": 4, "pytorchjobs": 8, "inference": 1}
"""The GPUs of each pod of a workload."""


def main() -> None:
    sections.publish("shards", lambda: "\n".join(report()), description=__doc__)


def report(factor: float = FACTOR, nodes: int = NODES, shards: int = SHARDS) -> Iterator[str]:
    scale(factor)
    before = os.getloadavg()[0]
    with json_server.serving("shard_server.py", nodes, factor) as kubeconfig:
        parts, merged = kubeconfig.parent / "parts", kubeconfig.parent / "fleet.json"
        runs = [_audited(kubeconfig, parts, index, shards) for index in range(shards)]
        merge = commands.timed(
            [commands.USHER, "report", "merge", parts, "--require-complete", "--output", merged],
        )
        document = json.loads(merged.read_text())
        _check(document["summary"], nodes)
        rows = sum(each.stat().st_size for each in parts.rglob("*.parquet"))
    objects = document["summary"]["objects"]
    namespaces = Counter(home_shard(f"team-{number}", shards) for number in range(cluster_objects.NAMESPACES))
    yield (
        f"{objects:,} objects, {document['summary']['workloads']:,} workloads with GPUs, {nodes:,} nodes; load of the "
        f"machine (a minute, {len(os.sched_getaffinity(0))} processors) {before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after."
    )
    yield ""
    yield "| shard | namespaces | processor s | s of the clock | MB at most |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for index, run in enumerate(runs):
        yield _row(f"{index}/{shards}", f"{namespaces[index]}", run)
    yield _row(f"merge of {rows / 1e6:.1f} MB of Parquet", "", merge)
    total = sum(each.processor for each in (*runs, merge))
    yield f"| together | {cluster_objects.NAMESPACES} | {total:.0f} | | |"


def _row(name: str, namespaces: str, run: Taken) -> str:
    return f"| {name} | {namespaces} | {run.processor:.1f} | {run.seconds:.1f} | {run.megabytes:.0f} |"


def _audited(kubeconfig: Path, parts: Path, index: int, shards: int) -> Taken:
    shard = ("--shard", f"{index}/{shards}", "--output-dir", parts)
    return commands.timed([commands.USHER, "audit", "--quiet", "--kubeconfig", kubeconfig, *shard])


def _check(summary: dict[str, float], nodes: int) -> None:
    """Raises SystemExit where a sum of the merge is not what the generator has made."""
    kinds = cluster_objects.kinds(nodes)
    listed = {(each.group, each.plural) for each in registry.LISTED}
    made = {
        "objects": sum(each.count for path, each in kinds.items() if _resource(path) in listed),
        "pods": cluster_objects.PODS,
        "workloads": cluster_objects.JOBS + cluster_objects.PYTORCH_JOBS + cluster_objects.INFERENCE,
        "gpus": sum(8 for number in range(nodes) if number % 5 < 3),
        "gpusAllocated": sum(_gpus(number) for number in range(cluster_objects.PODS)),
    }
    if wrong := {name: (summary[name], number) for name, number in made.items() if summary[name] != number}:
        raise SystemExit(f"the merge differs from the generator (merged, made): {wrong}")


def _gpus(pod: int) -> int:
    """The GPUs of a pod, by the order in which `cluster_objects` numbers pods."""
    number = pod
    for name, count, pods in (
        ("jobs", cluster_objects.JOBS, 4),
        ("pytorchjobs", cluster_objects.PYTORCH_JOBS, 8),
        ("inference", cluster_objects.INFERENCE, 4),
    ):
        if number < count * pods:
            return _GPUS[name]
        number -= count * pods
    return 0


def _resource(path: str) -> tuple[str, str]:
    """Group and plural of a path: /apis/batch/v1/jobs."""
    parts = path.strip("/").split("/")
    return ("" if parts[0] == "api" else parts[1]), parts[-1]


if __name__ == "__main__":
    main()
