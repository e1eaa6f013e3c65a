"""Measures `usher check` of two states of this repository, for example before and after a change, in turn.

Processor time of one process without cache, which other work on the machine changes least; the least of the rounds
counts. Name the folder of the other state, a checkout.
"""

import argparse
import itertools
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson
import yaml

import commands
import objects
import sections
from usher import paths

ROOT = Path(__file__).parents[1]
ROUNDS = 5
PODS = 1_000
SERVICES = 1_500


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("other", type=Path)
    given, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    sections.publish("states", lambda: "\n".join(report(given.other)), description=__doc__)


def report(other: Path) -> Iterator[str]:
    other = other.resolve()
    with tempfile.TemporaryDirectory() as name:
        rows = list(files(Path(name)))
        taken: dict[tuple[str, Path], list[float]] = {}
        for _, (what, path), state in itertools.product(range(ROUNDS), rows, (other, ROOT)):
            taken.setdefault((what, state), []).append(seconds(state, path))
    yield f"{ROUNDS} rounds."
    yield ""
    yield "| files | before: processor s, least (median) | now | now of before, least | median |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for what, _ in rows:
        before, now = taken[what, other], taken[what, ROOT]
        ratios = f"{min(now) / min(before):.2f} | {statistics.median(now) / statistics.median(before):.2f}"
        yield f"| {what} | {figures(before)} | {figures(now)} | {ratios} |"


def figures(values: Sequence[float]) -> str:
    return f"{min(values):.2f} ({statistics.median(values):.2f})"


def seconds(state: Path, path: Path) -> float:
    """Processor seconds of a check by one state."""
    command: list[str | Path] = [sys.executable, "-m", "usher", "check", "--no-cache", "--jobs", "1", path]
    environment = {"PYTHONPATH": str(state / "webhooks"), "PYTHONDONTWRITEBYTECODE": ""}
    return commands.timed(command, environment=environment, may_fail=True).processor


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    pods = objects.review_pods("names", PODS, namespace="research")
    yield "one small file", written(folder / "one.yaml", pods[1:2])
    one_each = folder / "pods"
    one_each.mkdir()
    for index, pod in enumerate(pods):
        written(one_each / f"{index}.yaml", [pod])
    yield f"{PODS:,} files, pods that differ in names, images and variables", one_each
    yield f"a file of {PODS:,} of these pods", written(folder / "pods.yaml", pods)
    services = [each for index in range(SERVICES) for each in service(index)]
    yield f"a file of {SERVICES:,} Services with Deployments", written(folder / "services.yaml", services)


def written(path: Path, values: Sequence[paths.Object]) -> Path:
    # Read again, because YAML would name a part that occurs twice.
    apart = map(orjson.loads, map(orjson.dumps, values))
    path.write_text(yaml.safe_dump_all(apart, default_flow_style=None, sort_keys=False))
    return path


def service(index: int) -> tuple[paths.Object, paths.Object]:
    """A Service and the Deployment of a model server that it selects."""
    metadata: paths.Object = {"namespace": "research", "name": f"model-{index}"}
    labels: paths.Object = {"app": f"model-{index}"}
    amounts: paths.Object = {"nvidia.com/gpu": 1, "cpu": 1, "memory": "1Gi"}
    container: paths.Object = {
        "name": "main",
        "image": "vllm/vllm-openai:v0.8",
        "args": ["--model", f"model-{index}"],
        "resources": {"limits": amounts, "requests": {"cpu": 1, "memory": "1Gi"}},
    }
    template: paths.Object = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec: paths.Object = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    ports: list[paths.Json] = [{"port": 80, "targetPort": 8000}]
    return (
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels, "ports": ports}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec},
    )


if __name__ == "__main__":
    main()
