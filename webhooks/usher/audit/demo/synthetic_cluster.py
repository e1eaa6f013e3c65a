"""The synthetic cluster: nodes and workloads, each a story for a report to find, other objects, and its usher.yaml."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec
import yaml
from msgspec import Struct, field

from usher import paths
from usher.config import models

GPU: Final = "nvidia.com/gpu"
TAINT: Final = {"key": GPU, "value": "present", "effect": "NoSchedule"}


class Pool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Equal nodes of `boards` boards each. `memory` is in MiB for each board."""

    name: str
    nodes: int
    product: str
    memory: int
    instance_type: str
    capacity_type: str
    boards: int = 8
    divided: dict[str, int] = field(default_factory=dict)
    """The MIG devices of a node with divided boards; empty if pods get whole boards."""
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def devices(self) -> dict[str, int]:
        """The devices that a node offers, by resource."""
        return {GPU: 0, **self.divided} if self.divided else {GPU: self.boards}


WITHOUT_TAINT: Final = "l40s-3"
"""This node lost its taint, so pods without GPUs may fill it."""

WITH_A_DEAD_BOARD: Final = "a100-5"
"""One of its boards is unhealthy."""

CORDONED: Final = "h100-9"
"""It was cordoned for a repair and never uncordoned."""


def node_names(pool: Pool) -> list[str]:
    return [f"{pool.name}-{number}" for number in range(pool.nodes)]


def node_objects(now: datetime) -> Iterator[paths.Object]:
    """The nodes as an API server lists them."""
    for pool in POOLS:
        for name in node_names(pool):
            yield _node(pool, name, created=now - timedelta(days=61))


def allocatable_devices(pool: Pool, name: str) -> dict[str, int]:
    """The devices of a node that pods can get."""
    return {**pool.devices, **({GPU: pool.devices[GPU] - 1} if name == WITH_A_DEAD_BOARD else {})}


def _node(pool: Pool, name: str, *, created: datetime) -> paths.Object:
    capacity = {
        "cpu": "96",
        "memory": "1100Gi",
        "pods": "110",
        **{key: str(each) for key, each in pool.devices.items()},
    }
    offered: paths.Object = {**capacity, **{key: str(each) for key, each in allocatable_devices(pool, name).items()}}
    taints: list[paths.Json] = [] if name == WITHOUT_TAINT else [dict(TAINT)]
    spec: paths.Object = {"taints": taints}
    if name == CORDONED:
        unschedulable: paths.Object = {
            "key": "node.kubernetes.io/unschedulable",
            "effect": "NoSchedule",
            "timeAdded": time_text(created + timedelta(days=19)),
        }
        spec = {"taints": [*taints, unschedulable], "unschedulable": True}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"node-{name}",
            "creationTimestamp": time_text(created),
            "labels": _node_labels(pool),
        },
        "spec": spec,
        "status": {
            "capacity": dict(capacity),
            "allocatable": offered,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time_text(created)}],
            "nodeInfo": {
                "kubeletVersion": "v1.36.1",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.8.0-1031-aws",
                "osImage": "Ubuntu 24.04.3 LTS",
            },
        },
    }


def _node_labels(pool: Pool) -> paths.Object:
    return {
        "node.example.com/pool": pool.name,
        "node.kubernetes.io/instance-type": pool.instance_type,
        "topology.kubernetes.io/zone": "eu-north-1a",
        "karpenter.sh/capacity-type": pool.capacity_type,
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": pool.product,
        "nvidia.com/gpu.count": str(pool.boards),
        "nvidia.com/gpu.memory": str(pool.memory),
        "nvidia.com/cuda.driver-version.full": "580.95.05",
        **pool.labels,
    }


def time_text(time: datetime) -> str:
    """A time as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Rhythm(StrEnum):
    """How the activity of a workload changes."""

    STEADY = "steady"
    OFFICE_HOURS = "office hours"
    """Busy from 8 to 18 o'clock UTC on working days, almost idle at other times."""


class Story(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workload. `wanted` pods ask for `devices` of `resource` each; `running` of them have a node of `pool`."""

    kind: str
    """Job, PyTorchJob, Deployment, StatefulSet or Notebook."""
    namespace: str
    name: str
    pool: str
    resource: str = GPU
    devices: int = 1
    wanted: int = 1
    running: int = 1
    age_hours: int = 200
    waiting_hours: int = 0
    """How many hours ago the other pods began to wait."""
    activity: float = 0.0
    """Mean activity of its boards while they are busy, from 0 to 1."""
    rhythm: Rhythm = Rhythm.STEADY
    memory: float = 0.5
    """Largest share of the memory of a board that it uses."""
    image: str = "registry.example.com/ml/pytorch:2.9"
    queue: str = ""
    priority: str = ""
    suspended: bool = False
    """Kueue has not admitted it: it has no pods yet."""
    careless: bool = False
    """It requests GPUs without a toleration, CPU or memory, like many first drafts."""


class _Cluster(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pools: tuple[Pool, ...]
    stories: tuple[Story, ...]


_CLUSTER: Final = msgspec.yaml.decode(Path(__file__).with_name("stories.yaml").read_bytes(), type=_Cluster)
POOLS: Final = _CLUSTER.pools
STORIES: Final = _CLUSTER.stories


_SURROUNDINGS: Final = Path(__file__).with_name("surroundings.yaml")


def surrounding_objects(now: datetime) -> Iterator[paths.Object]:
    """The objects beside nodes and workloads, as an API server lists them."""
    created = time_text(now - timedelta(days=61))
    for value in yaml.load_all(_SURROUNDINGS.read_bytes(), Loader=yaml.CSafeLoader):
        metadata = value["metadata"]
        uid = f"{value['kind'].lower()}-{metadata.get('namespace', '')}-{metadata['name']}"
        yield {**value, "metadata": {**metadata, "uid": uid, "creationTimestamp": created}}


Place = Callable[[Story], str]
"""The node of the next pod of a story."""


def story_objects(story: Story, place: Place, *, now: datetime) -> Iterator[paths.Object]:
    """The workload and everything that belongs to it, owners first."""
    created = now - timedelta(hours=story.age_hours)
    top = {**_top(story), "metadata": _story_metadata(story, story.name, created, labels=_labels(story))}
    yield top
    owner = _owner(top, story.name)
    if story.kind == "Deployment":
        name = f"{story.name}-7d9c5b"
        metadata: paths.Object = {**_story_metadata(story, name, created), "ownerReferences": [owner]}
        spec: paths.Object = {"replicas": story.wanted, "template": _template(story), "selector": _selector(story)}
        made: paths.Object = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}
        yield made
        owner = _owner(made, name)
    if story.kind == "Notebook":
        metadata = {**_story_metadata(story, story.name, created), "ownerReferences": [owner]}
        spec = {"replicas": 1, "template": _template(story), "selector": _selector(story)}
        made = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}
        made["metadata"] = {**metadata, "uid": f"{_uid(story, story.name)}-set"}
        yield made
        owner = {**_owner(made, story.name), "uid": f"{_uid(story, story.name)}-set"}
    if story.suspended:
        return
    for number in range(story.wanted):
        yield _pod(story, number, owner, place, now=now)


def _top(story: Story) -> paths.Object:
    template = _template(story)
    match story.kind:
        case "PyTorchJob":
            workers: paths.Object = {"replicas": story.wanted - 1, "template": template}
            replicas: paths.Object = {"Master": {"replicas": 1, "template": template}, "Worker": workers}
            return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": replicas}}
        case "Job":
            spec: paths.Object = {"parallelism": story.wanted, "completions": story.wanted, "template": template}
            if story.suspended:
                spec["suspend"] = True
            return {"apiVersion": "batch/v1", "kind": "Job", "spec": spec}
        case "Notebook":
            return {"apiVersion": "kubeflow.org/v1", "kind": "Notebook", "spec": {"template": template}}
    spec = {"replicas": story.wanted, "selector": _selector(story), "template": template}
    return {"apiVersion": "apps/v1", "kind": story.kind, "spec": spec}


def _pod(story: Story, number: int, owner: paths.Object, place: Place, *, now: datetime) -> paths.Object:
    name = pod_name(story, number)
    created = now - timedelta(hours=story.age_hours)
    metadata: paths.Object = {
        **_story_metadata(story, name, created, labels=_pod_labels(story)),
        "ownerReferences": [owner],
    }
    spec = _pod_spec(story)
    if number < story.running:
        spec["nodeName"] = place(story)
        started: paths.Object = {"type": "PodScheduled", "status": "True", "lastTransitionTime": time_text(created)}
        status: paths.Object = {"phase": "Running", "startTime": time_text(created), "conditions": [started]}
    else:
        since, nodes = time_text(now - timedelta(hours=story.waiting_hours)), "0/21 nodes are available"
        waits: paths.Object = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": f"{nodes}: 21 Insufficient {story.resource}. preemption: {nodes}.",
            "lastTransitionTime": since,
        }
        status = {"phase": "Pending", "conditions": [waits]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def pod_name(story: Story, number: int) -> str:
    """The name of a pod as its controller gives it. Its suffix is fixed, so that two demos are equal."""
    match story.kind:
        case "PyTorchJob":
            return f"{story.name}-master-0" if number == 0 else f"{story.name}-worker-{number - 1}"
        case "Notebook" | "StatefulSet":
            return f"{story.name}-{number}"
        case "Deployment":
            return f"{story.name}-7d9c5b-{_LETTERS[number % len(_LETTERS)] * 5}"
    return f"{story.name}-{number}-{_LETTERS[number % len(_LETTERS)] * 5}"


_LETTERS: Final = "bcdfghjklm"


def _template(story: Story) -> paths.Object:
    return {"metadata": {"labels": _pod_labels(story)}, "spec": _pod_spec(story)}


def _pod_spec(story: Story) -> paths.Object:
    devices: paths.Object = {story.resource: str(story.devices)}
    amounts: paths.Object = {"cpu": str(8 * story.devices), "memory": f"{64 * story.devices}Gi", **devices}
    limits = devices if story.careless else amounts
    name = "pytorch" if story.kind == "PyTorchJob" else story.name
    container: paths.Object = {"name": name, "image": story.image, "resources": {"limits": limits}}
    if not story.careless:
        container["resources"] = {"limits": dict(limits), "requests": dict(limits)}
    spec: paths.Object = {"containers": [container], "nodeSelector": {"node.example.com/pool": story.pool}}
    if story.kind.endswith("Job"):
        spec["restartPolicy"] = "Never"
    if not story.careless:
        spec["tolerations"] = [dict(TAINT)]
    if story.priority:
        spec["priorityClassName"] = story.priority
    return spec


def _selector(story: Story) -> paths.Object:
    return {"matchLabels": {"app": story.name}}


def _pod_labels(story: Story) -> paths.Object:
    return {"app": story.name}


def _labels(story: Story) -> Mapping[str, str]:
    return {"app": story.name, **({"kueue.x-k8s.io/queue-name": story.queue} if story.queue else {})}


def _story_metadata(
    story: Story, name: str, created: datetime, *, labels: Mapping[str, paths.Json] | None = None
) -> paths.Object:
    found: paths.Object = {"name": name, "namespace": story.namespace, "uid": _uid(story, name)}
    return {**found, "creationTimestamp": time_text(created), "labels": dict(labels or _pod_labels(story))}


def _uid(story: Story, name: str) -> str:
    return f"{story.namespace}-{name}-{story.kind.lower()}"


def _owner(value: paths.Object, name: str) -> paths.Object:
    metadata = paths.metadata(value)
    shared: paths.Object = {"apiVersion": value["apiVersion"], "kind": value["kind"]}
    return {**shared, "name": name, "uid": metadata["uid"], "controller": True}


NAME: Final = "demo"
"""The name of the cluster in reports."""

SERVER: Final = "v1.36.1"
"""The version of its API server."""


def objects(now: datetime) -> Iterator[paths.Object]:
    """Every object of the cluster at a time."""
    yield from node_objects(now)
    yield from surrounding_objects(now)
    places = Places()
    for story in STORIES:
        yield from story_objects(story, places.take, now=now)


def serves(group: str) -> bool:
    """Whether every API server serves the group, even if the cluster has no object of it."""
    return not group or group.endswith(".k8s.io")


class Places:
    """The boards of the nodes. Each pod gets boards of the first node that has enough left."""

    def __init__(self) -> None:
        self._free = {name: dict(pool.devices) for pool in POOLS for name in node_names(pool) if name != CORDONED}
        self._free[WITH_A_DEAD_BOARD][GPU] -= 1

    def take(self, story: Story) -> str:
        """The node of the next pod of a story.

        Raises:
            LookupError: the stories hold more than the nodes have.
        """
        for name, free in self._free.items():
            if name.rpartition("-")[0] == story.pool and free.get(story.resource, 0) >= story.devices:
                free[story.resource] -= story.devices
                return name
        raise LookupError(f"no node of pool {story.pool} has room for {story.name}")


def configuration(today: date) -> models.Config:
    """The usher.yaml of the cluster."""
    value = yaml.load(Path(__file__).with_name("configuration.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    for each in value["enforcement"]["exceptions"]:
        each["expires"] = today + timedelta(days=each["expires"])
    return models.Config.model_validate(value)
