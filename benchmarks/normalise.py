"""Measures the reading of an object: processor time of one core, compared with our own limits, and memory."""

import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import orjson

import objects
import sections
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections as config_sections
from usher.workloads.normalise import normalise

ROUNDS = 9
CONTAINERS = 10_000
VOCABULARY = Vocabulary(config_sections.Accelerators())


class Case(NamedTuple):
    name: str
    value: paths.Object
    limit: float
    """Milliseconds."""
    repetitions: int


def main() -> None:
    sections.publish("normalise", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    cases = [
        Case("a GPU pod of 3.5 kB", objects.gpu_pod(), 0.10, 2000),
        Case("a job of 20 templates as in manifests", job_of_templates([objects.pod_template()] * 20), 1.0, 200),
        Case("a job of 20 templates as large as the pod", job_of_templates(as_pods(20)), 1.0, 200),
    ]
    lines = ["| object | processor ms: median (min-max) | limit | of the limit |", "| --- | ---: | ---: | ---: |"]
    for case in cases:
        taken = [measured(partial(read, case.value), case.repetitions) for _ in range(ROUNDS)]
        middle = statistics.median(taken)
        spread = f"{min(taken):.3f}-{max(taken):.3f}"
        lines.append(f"| {case.name} | {middle:.3f} ({spread}) | {case.limit:.2f} | {middle / case.limit:.2f} |")
    crowded = pod_of_containers(CONTAINERS)
    size = len(orjson.dumps(crowded))
    took = measured(partial(read, crowded), 1)
    lines.append("")
    lines.append(
        f"A pod of {CONTAINERS:,} containers ({size / 1e6:.1f} MB of JSON) takes {took:.0f} ms to read "
        f"and {peak(crowded) / 1e6:.0f} MB at most."
    )
    return lines


def read(value: paths.Object) -> model.Workload | None:
    return normalise(value, vocabulary=VOCABULARY)


def measured(call: Callable[[], object], repetitions: int) -> float:
    """Milliseconds of processor time for one call."""
    before = time.process_time()
    for _ in range(repetitions):
        call()
    return (time.process_time() - before) / repetitions * 1000


def peak(value: paths.Object) -> int:
    """Bytes that reading needs in addition to the object, with the result."""
    tracemalloc.start()
    try:
        kept = read(value)
        return tracemalloc.get_traced_memory()[1] if kept is not None else 0
    finally:
        tracemalloc.stop()


def as_pods(number: int) -> list[paths.Object]:
    pods = [objects.gpu_pod(index=index) for index in range(number)]
    return [{"metadata": pod["metadata"], "spec": pod["spec"]} for pod in pods]


def job_of_templates(templates: list[paths.Object]) -> paths.Object:
    """A Volcano Job with a task for each template."""
    tasks: list[paths.Json] = [
        {"name": f"task-{index}", "replicas": 8, "template": template} for index, template in enumerate(templates)
    ]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "pipeline", "namespace": "ml-research"},
        "spec": {"tasks": tasks},
    }


def pod_of_containers(number: int) -> paths.Object:
    limits: paths.Json = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": 1}
    containers: list[paths.Json] = [
        {"name": f"c{index}", "image": "registry.example.com/image:1", "resources": {"limits": limits}}
        for index in range(number)
    ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "crowd"}, "spec": {"containers": containers}}


if __name__ == "__main__":
    main()
