"""Measures the reading of an object: processor time of one core, compared with our own limits, and memory."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import orjson

import groups_by_code
import objects
import sections
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections as config_sections
from usher.kinds import registry
from usher.kinds.reading.values import Reading
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
    lines += ["", *described(), ""]
    lines.append(
        f"A pod of {CONTAINERS:,} containers ({size / 1e6:.1f} MB of JSON) takes {took:.0f} ms to read "
        f"and {peak(crowded) / 1e6:.0f} MB at most."
    )
    return lines


def described() -> list[str]:
    """The cost of groups that a description reads, of the cost of code that does the same. The limit is 1.5."""
    lines = ["| object | by its description, of the code | its pod sets alone |", "| --- | ---: | ---: |"]
    spec: paths.Object = {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": objects.pod_template()}}
    roles: list[paths.Json] = [{"name": name, "spec": spec} for name in ("prefill", "decode")]
    groups = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", spec, groups_by_code.leader_worker_set)
    holder: paths.Object = {"roles": roles}
    several = ("disaggregatedset.x-k8s.io", "DisaggregatedSet", holder, groups_by_code.disaggregated_set)
    for group, kind, own, by_code in (groups, several):
        value: paths.Object = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "a"}, "spec": own}
        by_description = registry.PODS[group, kind].templates
        assert [each.count for each in by_description(value, Reading())] == [
            each.count for each in by_code(value, Reading())
        ]
        calls = (partial(read, value), partial(_templates, by_description, value), partial(_templates, by_code, value))
        taken = [[measured(call, 200) for call in calls] for _ in range(ROUNDS)]
        whole, mine, code = (min(each) for each in zip(*taken, strict=True))
        lines.append(f"| {kind} | {whole / (whole - mine + code):.2f} | {mine / code:.1f} |")
    return lines


def _templates(find: Callable[[paths.Object, Reading], Iterable[object]], value: paths.Object) -> list[object]:
    return list(find(value, Reading()))


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
