"""Generated queues of Volcano and workloads for them, always the same for a number."""

import random
from typing import Any, Final, NamedTuple

import builders
from builders import GPU, queues
from e2e.cluster import Object
from e2e.gpu_nodes import accelerator_node
from unit.policy.agreeing import NAMESPACE
from usher import paths

NODES: Final = [
    accelerator_node(
        f"volcano-{index}",
        labels={"pool": "all", "rack": f"r{index // 2}"},
        resources={GPU: "8" if index < 2 else "4", "cpu": "32", "memory": "64Gi", "pods": "20"},
    )
    for index in range(4)
]
POOLS: Final[paths.Json] = [
    {"name": "all", "nodeSelector": {"pool": "all"}, "resources": [GPU], "scalesFromZero": False}
]
_SCHEDULING: Final = "scheduling.volcano.sh"


class World(NamedTuple):
    """Queues under names of their own."""

    number: int
    queues: list[Object]


class Case(NamedTuple):
    """A workload with the PodGroup that it may name."""

    workload: Object
    groups: list[Object]
    minimum: int
    """How many pods must be placed for a start."""


def world(seed: int, number: int, *, hierarchy: bool = False) -> World:
    """Three queues, some with a capability or a guarantee; in a hierarchy, below a fourth or below each other."""
    choose = random.Random(seed * 1_000 + number)
    found = [_queue(choose, f"q-{number}-{index}") for index in range(3)]
    if hierarchy:
        found.append(_queue(choose, above := f"above-{number}"))
        for index, each in enumerate(found[:3]):
            each["spec"]["parent"] = choose.choice([above, above, "root", f"q-{number}-{(index + 1) % 3}"][: 4 - index])
    # A queue is made after the one above it.
    return World(number, found[::-1] if hierarchy else found)


def _queue(choose: random.Random, name: str) -> Object:
    capability: dict[str, Any] = {}
    if choose.random() < 0.7:
        capability["gpu"] = choose.choice([2, 4, 8, 8, 12])
    if choose.random() < 0.3:
        capability["cpu"] = str(choose.choice([2, 8, 16, 32]))
    if choose.random() < 0.2:
        capability["memory"] = choose.choice(["1Gi", "8Gi", "64Gi"])
    found: Object = queues.volcano_queue(name, state="", **capability)
    if choose.random() < 0.15:
        found["spec"]["guarantee"] = {"resource": {GPU: str(min(int(capability.get("gpu", 4)), 4))}}
    return found


def workload(seed: int, of: World, index: int) -> Case:
    """A Job of Volcano, or a Job of Kubernetes that Volcano places, alone or in a PodGroup."""
    choose = random.Random(f"{seed}-{of.number}-{index}")
    name = f"case-{of.number}-{index}"
    queue = choose.choice([*8 * [str(each["metadata"]["name"]) for each in of.queues], "default", "gone"])
    kind = choose.random()
    if kind < 0.5:
        return _volcano_job(choose, name, queue)
    pods = choose.choice([1, 2, 2, 3, 4, 6])
    template = _template(choose, queue)
    own: dict[str, str] = {}
    groups, minimum = [], 1
    if kind < 0.75:
        if choose.random() < 0.6:
            minimum = choose.randint(1, pods + 1)
            own[f"{_SCHEDULING}/group-min-member"] = str(minimum)
    else:
        minimum = choose.randint(1, pods + 1)
        template["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = choose.choice([*5 * [name], "missing"])
        spec: dict[str, Any] = {"minMember": minimum, "queue": queue}
        if choose.random() < 0.4:
            spec["minResources"] = {GPU: str(choose.choice([1, 4, 8, 16, 32]))}
        groups = [_group(name, spec)]
    job = builders.job(template, name=name, namespace=NAMESPACE, parallelism=pods, completions=pods, annotations=own)
    return Case(job, groups, minimum)


def _group(name: str, spec: dict[str, Any]) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": f"{_SCHEDULING}/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}


def _volcano_job(choose: random.Random, name: str, queue: str) -> Case:
    """Its fields are as Volcano's webhook completes them, which does not run here."""
    tasks: list[dict[str, Any]] = []
    for task in ("leader", "worker")[: choose.choice([1, 2, 2])]:
        replicas = 1 if task == "leader" and choose.random() < 0.6 else choose.choice([1, 2, 3, 4])
        template = _template(choose, "")
        least = choose.choice([replicas, replicas, choose.randint(0, replicas)])
        tasks.append({"name": task, "replicas": replicas, "minAvailable": least, "template": template})
    total = sum(each["replicas"] for each in tasks)
    minimum = choose.choice([total, total, choose.randint(1, total)])
    spec = {"minAvailable": minimum, "queue": queue, "schedulerName": "volcano", "maxRetry": 3, "tasks": tasks}
    metadata = {"name": name, "namespace": NAMESPACE}
    job: Object = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata, "spec": spec}
    return Case(job, [], minimum)


def _template(choose: random.Random, queue: str) -> Any:
    limits: dict[str, Any] = {"cpu": choose.choice([1, 1, 2, 8, 17])}
    gpus = choose.choice([0, 1, 1, 2, 4, 4, 8, 9])
    if gpus:
        limits[GPU] = gpus
    if choose.random() < 0.2:
        limits["memory"] = choose.choice(["1Gi", "20Gi", "70Gi"])
    spec: dict[str, Any] = {"restartPolicy": "Never", "schedulerName": "volcano", "nodeSelector": {"pool": "all"}}
    if choose.random() < 0.15:
        spec["nodeSelector"] |= {"rack": choose.choice(["r0", "r1", "r7"])}
    if choose.random() < 0.1:
        spec["runtimeClassName"] = "kata"
    annotations = {f"{_SCHEDULING}/queue-name": queue} if queue else {}
    return builders.template(builders.container(limits=limits), annotations=annotations, **spec)
