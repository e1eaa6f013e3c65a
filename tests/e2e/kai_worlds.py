"""Generated queues of KAI-Scheduler and workloads for them, always the same for a number."""

import random
from typing import Any, Final, NamedTuple

import builders
from builders import GPU, operators
from e2e.cluster import Object
from e2e.gpu_nodes import accelerator_node
from unit.policy.agreeing import NAMESPACE
from usher import paths

SHARD: Final = "second"
"""The shard beside the one without a label."""

_POOL: Final = "kai.scheduler/node-pool"


def _node(name: str, *, gpus: int, memory: str = "", shard: str = "", **resources: str) -> Object:
    labels = {"pool": "all", **({"nvidia.com/gpu.memory": memory} if memory else {})}
    labels |= {_POOL: shard} if shard else {}
    offered = {GPU: str(gpus), "cpu": "32", "memory": "64Gi", "pods": "20", **resources}
    return accelerator_node(name, labels=labels, resources=offered)


NODES: Final = [
    _node("kai-0", gpus=8, memory="81559"),
    _node("kai-1", gpus=8, memory="81559"),
    _node("kai-2", gpus=4, memory="40960"),
    _node("kai-3", gpus=4, memory="81559", shard=SHARD),
    _node("kai-4", gpus=0),
]
POOLS: Final[paths.Json] = [
    {"name": "all", "nodeSelector": {"pool": "all"}, "resources": [GPU], "scalesFromZero": False}
]
SHARDS: Final = [
    {
        "apiVersion": "kai.scheduler/v1",
        "kind": "SchedulingShard",
        "metadata": {"name": value or "default"},
        "spec": {"partitionLabelValue": value} if value else {},
    }
    for value in ("", SHARD)
]
CLASSES: Final = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    for name, value in {"train": 50, "build": 100, "inference": 125, "low": 10}.items()
]
"""The PriorityClasses of its chart, and one more."""


_BOUNDS: Final[dict[str, list[float]]] = {
    "gpu": [0, 1, 1.5, 2, 4, 8, 12],
    "cpu": [1000, 4000, 16000, 64000],
    "memory": [2000, 20000, 200000],
}
"""GPUs, thousandths of CPUs, and megabytes."""


class World(NamedTuple):
    """Queues under names of their own."""

    number: int
    queues: list[Object]


class Case(NamedTuple):
    """A workload, with what the operator of its kind would make of it."""

    workload: Object
    pods: list[Object]
    minimum: int
    """How many pods must be placed for a start."""


def world(seed: int, number: int) -> World:
    """A department and three queues below it, most of them in the shard without a label; a queue at the top."""
    choose = random.Random(seed * 1_000 + number)
    shard = SHARD if choose.random() < 0.2 else ""
    above = _queue(choose, f"d-{number}", parent="", shard=shard, generous=0.8)
    made = [above]
    for index in range(3):
        own = shard if choose.random() < 0.95 else {"": SHARD, SHARD: ""}[shard]
        below = f"q-{number}-0" if index else f"d-{number}"
        parent = choose.choice([*14 * [f"d-{number}"], *4 * [below], "", "gone"])
        made.append(_queue(choose, f"q-{number}-{index}", parent=parent, shard=own))
    return World(number, made)


def _queue(choose: random.Random, name: str, *, parent: str, shard: str, generous: float = 0.5) -> Object:
    resources: dict[str, Any] = {}
    for resource, bounds in _BOUNDS.items():
        if choose.random() < 0.015:
            continue
        free = generous if resource == "gpu" else 0.85
        written: dict[str, Any] = {"overQuotaWeight": choose.choice([0, 1, 2])}
        for field in ("limit", "quota"):
            if choose.random() < 0.97:
                written[field] = -1 if choose.random() < free else choose.choice(bounds)
        resources[resource] = written
    spec: dict[str, Any] = {"resources": resources, **({"parentQueue": parent} if parent else {})}
    metadata: dict[str, Any] = {"name": name, **({"labels": {_POOL: shard}} if shard else {})}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": metadata, "spec": spec}


def workload(seed: int, of: World, index: int) -> Case:
    """A Pod, Job, Deployment, StatefulSet or PyTorchJob for one of the queues."""
    choose = random.Random(f"{seed}-{of.number}-{index}")
    name = f"case-{of.number}-{index}"
    chosen = choose.choice([*10 * of.queues[1:], of.queues[0], None])
    queue = "absent" if chosen is None else str(chosen["metadata"]["name"])
    labels = {"kai.scheduler/queue": queue}
    if choose.random() < 0.05:
        labels = {"project": queue}
    shard = "" if chosen is None else str(chosen["metadata"].get("labels", {}).get(_POOL, ""))
    if choose.random() < 0.06:
        shard = str(choose.choice(["", SHARD, "third"]))
    labels |= {_POOL: shard} if shard else {}
    if choose.random() < 0.3:
        labels["kai.scheduler/preemptibility"] = choose.choice(["preemptible", "non-preemptible", "non-preemptible"])
    elif choose.random() < 0.25:
        labels["priorityClassName"] = choose.choice(["build", "inference", "low", "nothing"])
    kind = choose.choice([*3 * ["Pod"], *3 * ["Job"], "Deployment", "StatefulSet", *4 * ["PyTorchJob"]])
    own, of_pods = ({}, labels) if choose.random() < 0.5 else (labels, {})
    pods = choose.choice([1, 2, 3, 4])
    made: dict[str, Any] = {"name": name, "namespace": NAMESPACE}
    if kind == "Pod":
        template = _template(choose, labels)
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**made, **template["metadata"]},
            "spec": template["spec"],
        }
        return Case(pod, [], 1)
    if kind == "PyTorchJob":
        return _training(choose, name, own, of_pods, pods)
    template = _template(choose, {**of_pods, "app": name})
    if kind == "Job":
        job = builders.job(template, **made, labels=own, parallelism=pods, completions=pods)
        return Case(job, [], 1)
    template["spec"]["restartPolicy"] = "Always"
    selector = {"matchLabels": {"app": name}}
    more = {"serviceName": name, "podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}
    spec = {"replicas": pods, "selector": selector, "template": template, **more}
    return Case({"apiVersion": "apps/v1", "kind": kind, "metadata": {**made, "labels": own}, "spec": spec}, [], 1)


def _training(choose: random.Random, name: str, own: dict[str, str], of_pods: dict[str, str], workers: int) -> Case:
    """A PyTorchJob, and the pods that the training operator makes of it."""
    worker = _template(choose, of_pods)
    master = _template(choose, of_pods) if choose.random() < 0.5 else None
    total = workers + (master is not None)
    least = choose.randint(1, total) if choose.random() < 0.3 else 0
    policy: dict[str, Any] = {"schedulingPolicy": {"minAvailable": least}} if least else {}
    job = operators.pytorch_job(
        worker,
        workers=workers,
        master=master,
        run_policy=policy or None,
        name=name,
        namespace=NAMESPACE,
        labels=own,
    )
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{name}-{role.lower()}-{index}",
                "namespace": NAMESPACE,
                **template["metadata"],
                "labels": {**template["metadata"]["labels"], "training.kubeflow.org/replica-type": role.lower()},
            },
            "spec": template["spec"],
        }
        for role, template, count in (("Master", master, 1), ("Worker", worker, workers))
        if template is not None
        for index in range(count)
    ]
    return Case(job, pods, least or total)


def _template(choose: random.Random, labels: dict[str, str]) -> Any:
    limits: dict[str, Any] = {"cpu": choose.choice([1, 1, 1, 2, 4, 17])} if choose.random() < 0.8 else {}
    annotations: Any = {}
    asked = choose.random()
    if asked < 0.22:
        annotations["gpu-fraction"] = choose.choice(["0.25", "0.5", "0.5", "0.9", "0.333"])
    elif asked < 0.32:
        annotations["gpu-memory"] = choose.choice(["4000", "20000", "40000", "90000"])
    elif gpus := choose.choice([0, 1, 1, 1, 2, 2, 4, 8, 9]):
        limits[GPU] = gpus
    if annotations and choose.random() < 0.2:
        annotations["gpu-fraction-num-devices"] = choose.choice(["2", "2", "9"])
    if choose.random() < 0.2:
        limits["memory"] = choose.choice(["1Gi", "20Gi", "70Gi"])
    spec: dict[str, Any] = {"restartPolicy": "Never", "schedulerName": "kai-scheduler", "nodeSelector": {"pool": "all"}}
    if choose.random() < 0.1:
        spec["runtimeClassName"] = "kata"
    template = builders.template(builders.container(limits=limits), labels=labels, annotations=annotations, **spec)
    template["metadata"] = {"labels": dict(labels), "annotations": annotations}
    return template
