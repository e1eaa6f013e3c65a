"""Generated queues of Kueue and workloads for them, always the same for a number."""

import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import builders
from builders import GPU, queues
from e2e.cluster import Object
from e2e.gpu_nodes import accelerator_node
from unit.policy.agreeing import NAMESPACE
from usher import paths

HOST: Final = "kubernetes.io/hostname"
TEAM: Final = {"key": "team", "value": "b", "effect": "NoSchedule"}


def _node(name: str, rack: str, gpus: int, taints: Sequence[Object] = ()) -> Object:
    pool = name[0]
    labels = {"pool": pool, "rack": rack, "block": "b0" if pool == "a" else "b1"}
    resources = {GPU: str(gpus), "cpu": "32", "memory": "64Gi", "pods": "20"}
    return accelerator_node(name, labels=labels, resources=resources, taints=taints)


NODES: Final = [
    _node("a-0", "r0", 8),
    _node("a-1", "r0", 8),
    _node("a-2", "r1", 8),
    _node("a-3", "r1", 4),
    _node("b-0", "r2", 4, [TEAM]),
    _node("b-1", "r2", 4, [TEAM]),
    _node("b-2", "r3", 4, [TEAM]),
]

POOLS: Final[paths.Json] = [
    {"name": "a", "nodeSelector": {"pool": "a"}, "resources": [GPU], "scalesFromZero": False},
    {
        "name": "b",
        "nodeSelector": {"pool": "b"},
        "taints": [dict(TEAM)],
        "resources": [GPU],
        "scalesFromZero": False,
    },
]
"""The nodes above as usher.yaml declares them: nothing adds more."""

TOPOLOGIES: Final[list[Object]] = [
    queues.topology("hosts", "rack", HOST),
    queues.topology("blocks", "block", "rack", HOST),
    queues.topology("racks", "block", "rack"),
]

_RESOURCES: Final = (GPU, "cpu", "memory")


class World(NamedTuple):
    """Queues and what they rest on, under names of their own."""

    number: int
    objects: list[Object]
    queues: dict[str, list[str]]
    """The levels of the Topologies of its flavors, by the name of a queue."""


def world(seed: int, number: int) -> World:
    """Two or three ClusterQueues, most of them in a tree of cohorts, with two or three flavors."""
    choose = random.Random(seed * 1_000 + number)
    flavors = [_flavor(choose, f"{kind}-{number}", kind) for kind in choose.sample(("a", "a2", "b", "any", "none"), 3)]
    cohorts = _cohorts(choose, number, flavors)
    names = [f"cq-{number}-{index}" for index in range(choose.choice([2, 3]))]
    made = [_cluster_queue(choose, name, flavors, cohorts) for name in names]
    locals_ = [queues.local_queue(name) for name in names]
    levels = {name: _levels(queue, flavors) for name, queue in zip(names, made, strict=True)}
    return World(number, [*flavors, *cohorts, *made, *locals_], levels)


def _levels(queue: Object, flavors: Sequence[Object]) -> list[str]:
    """The levels of the Topologies of the flavors of a queue."""
    own = {each["name"] for group in queue["spec"]["resourceGroups"] for each in group["flavors"]}
    named = {each["spec"].get("topologyName") for each in flavors if each["metadata"]["name"] in own}
    known = [each for each in TOPOLOGIES if each["metadata"]["name"] in named]
    # Those of one Topology, as users write them for the flavor that they mean.
    return [str(level["nodeLabel"]) for each in known[:1] for level in each["spec"]["levels"]]


def _flavor(choose: random.Random, name: str, kind: str) -> Object:
    labels = {"a": {"pool": "a"}, "a2": {"pool": "a", "rack": "r1"}, "b": {"pool": "b"}, "none": {"pool": "gone"}}
    spec: dict[str, Any] = {}
    if kind == "b":
        spec = choose.choice([{"nodeTaints": [TEAM]}, {"tolerations": [{"key": "team", "operator": "Exists"}]}, {}])
    if labels.get(kind) and choose.random() < 0.6:
        spec["topologyName"] = choose.choice(["hosts", "hosts", "blocks", "racks"])
    return queues.flavor(name, labels=labels.get(kind), **spec)


def _cohorts(choose: random.Random, number: int, flavors: Sequence[Object]) -> list[Object]:
    root, child = f"root-{number}", f"child-{number}"
    if choose.random() < 0.25:
        return []
    groups = [_group(choose, flavors[:1], _RESOURCES, cohort=False)] if choose.random() < 0.4 else []
    found = [queues.cohort(root, *groups)]
    if choose.random() < 0.6:
        below = [_group(choose, flavors[:2], (GPU, "cpu"), cohort=True)] if choose.random() < 0.5 else []
        found.append(queues.cohort(child, *below, parent=root))
    return found


def _cluster_queue(choose: random.Random, name: str, flavors: Sequence[Object], cohorts: Sequence[Object]) -> Object:
    cohort = choose.choice([*cohorts, *cohorts, None])
    own = choose.sample(flavors, choose.choice([1, 1, 2, 2, 3]))
    inside = cohort is not None
    if len(own) > 1 and choose.random() < 0.25:
        groups = [
            _group(choose, own[:1], (GPU,), cohort=inside),
            _group(choose, own[1:], ("cpu", "memory"), cohort=inside),
        ]
    else:
        covered = _RESOURCES if choose.random() < 0.85 else (*_RESOURCES, "pods")
        groups = [_group(choose, own, covered, cohort=inside)]
    spec: dict[str, Any] = {}
    if choose.random() < 0.3:
        spec["flavorFungibility"] = {
            "whenCanBorrow": choose.choice(["MayStopSearch", "TryNextFlavor"]),
            "whenCanPreempt": choose.choice(["MayStopSearch", "TryNextFlavor"]),
        }
    if choose.random() < 0.3:
        spec["preemption"] = {"withinClusterQueue": choose.choice(["LowerPriority", "Never"])}
    if choose.random() < 0.08:
        spec["stopPolicy"] = choose.choice(["Hold", "HoldAndDrain"])
    if choose.random() < 0.06:
        spec["namespaceSelector"] = {"matchLabels": {"team": "others"}}
    if choose.random() < 0.3:
        spec["queueingStrategy"] = "StrictFIFO"
    return queues.cluster_queue(
        name, *groups, cohort=None if cohort is None else str(cohort["metadata"]["name"]), **spec
    )


def _group(choose: random.Random, flavors: Sequence[Object], resources: Sequence[str], *, cohort: bool) -> Object:
    return queues.group(
        *(
            (str(each["metadata"]["name"]), [_quota(choose, name, cohort=cohort) for name in resources])
            for each in flavors
        )
    )


def _quota(choose: random.Random, resource: str, *, cohort: bool) -> Object:
    if resource == GPU:
        nominal, step = choose.choice([0, 8, 16, 16, 24, 32, 32]), choose.choice([0, 4, 8])
    elif resource == "pods":
        nominal, step = choose.choice([4, 8]), choose.choice([0, 2])
    elif choose.random() < 0.8:
        nominal, step = 1000, 0
    else:
        nominal, step = choose.choice([8, 32, 64]), 8
    unit = "Gi" if resource == "memory" else ""
    limits = {key: f"{step}{unit}" for key in ("borrowing", "lending") if cohort and choose.random() < 0.3}
    if int(limits.get("lending", "0").removesuffix("Gi")) > nominal:
        del limits["lending"]
    return queues.quota(f"{nominal}{unit}", resource=resource, **limits)


def workload(seed: int, of: World, index: int) -> Object:
    """A Job or a JobSet for one of the queues."""
    choose = random.Random(f"{seed}-{of.number}-{index}")
    name = f"case-{of.number}-{index}"
    queue = choose.choice([*8 * list(of.queues), "gone"])
    labels, levels = {"kueue.x-k8s.io/queue-name": queue}, of.queues.get(queue, [])
    if choose.random() < 0.35:
        return _job_set(choose, name, labels, levels)
    pods = choose.choice([1, 1, 2, 2, 3, 4, 5, 6, 8])
    annotations: dict[str, str] = {}
    if pods > 1 and choose.random() < 0.15:
        annotations["kueue.x-k8s.io/job-min-parallelism"] = str(choose.randint(1, pods - 1))
    template = _template(choose, levels, pods)
    return builders.job(
        template,
        name=name,
        namespace=NAMESPACE,
        parallelism=pods,
        completions=pods,
        labels=labels,
        annotations=annotations,
    )


def _job_set(choose: random.Random, name: str, labels: dict[str, str], levels: Sequence[str]) -> Object:
    parts = []
    shared = _topology(choose, levels, 1)
    grouped = bool(shared) and choose.random() < 0.3
    for part in ("leader", "worker", "other")[: choose.choice([2, 2, 3])]:
        pods = 1 if part == "leader" else choose.choice([1, 2, 3, 4])
        replicas = 1 if part == "leader" or grouped else choose.choice([1, 1, 2])
        template = _template(choose, levels, pods * replicas)
        if choose.random() < 0.7:
            annotations = template["metadata"]["annotations"]
            for key in [key for key in annotations if "podset-" in key]:
                del annotations[key]
            annotations |= shared
            if grouped and part != "other":
                annotations["kueue.x-k8s.io/podset-group-name"] = "together"
        parts.append(builders.replicated_job(part, template, replicas=replicas, parallelism=pods, completions=pods))
    return builders.job_set(*parts, name=name, namespace=NAMESPACE, labels=labels)


def _template(choose: random.Random, levels: Sequence[str], pods: int) -> Any:
    limits: dict[str, Any] = {"cpu": choose.choice([1, 1, 1, 2, 8, 17])}
    gpus = choose.choice([0, 1, 1, 2, 2, 4, 4, 8])
    if gpus:
        limits[GPU] = gpus
    if choose.random() < 0.2:
        limits["memory"] = choose.choice(["1Gi", "1Gi", "20Gi", "70Gi"])
    spec: dict[str, Any] = {"restartPolicy": "Never"}
    if choose.random() < 0.2:
        key, values = choose.choice([("pool", "aab"), ("rack", ("r0", "r1", "r7")), (HOST, ("a-0", "b-1"))])
        spec["nodeSelector"] = {key: choose.choice(values)}
    elif choose.random() < 0.1:
        key, values = choose.choice([("pool", ["a"]), ("rack", ["r0", "r2"]), (HOST, ["a-0", "a-1"])])
        operator = choose.choice(["In", "NotIn"])
        term = {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        spec["affinity"] = {"nodeAffinity": required}
    if choose.random() < 0.7:
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
    if choose.random() < 0.1:
        spec["runtimeClassName"] = "kata"
    annotations = _topology(choose, levels, pods)
    return builders.template(builders.container(limits=limits), annotations=annotations, **spec)


def _topology(choose: random.Random, levels: Sequence[str], pods: int) -> dict[str, str]:
    """The annotations that ask for placement by topology."""
    if choose.random() < (0.2 if levels else 0.95):
        return {}
    prefix, levels = "kueue.x-k8s.io/podset-", levels or ["rack"]
    level = choose.choice([*4 * list(levels), "row"]) if choose.random() < 0.3 else choose.choice(levels)
    found = choose.choice(
        [
            {f"{prefix}required-topology": level},
            {f"{prefix}required-topology": level},
            {f"{prefix}preferred-topology": level},
            {f"{prefix}unconstrained-topology": "true"},
        ]
    )
    if f"{prefix}unconstrained-topology" not in found and pods > 1 and choose.random() < 0.3:
        found |= {
            f"{prefix}slice-required-topology": choose.choice(levels),
            f"{prefix}slice-size": str(choose.choice([1, 2, 2, 3])),
        }
    return found
