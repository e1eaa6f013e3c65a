"""Workloads that wait, each for one reason, with what its controller has to know; the same for every run."""

from typing import Any, Final, NamedTuple

import builders
from builders import GPU, queues
from e2e.cluster import Object
from e2e.gpu_nodes import accelerator_node
from unit.policy.agreeing import NAMESPACE
from usher import paths

TAINT: Final[Object] = {"key": "team", "value": "b", "effect": "NoSchedule"}
NODES: Final = [
    accelerator_node("waiting-a", labels={"pool": "a"}, resources={GPU: "8", "cpu": "32", "pods": "20"}),
    accelerator_node(
        "waiting-b", labels={"pool": "b"}, resources={GPU: "4", "cpu": "32", "pods": "20"}, taints=[TAINT]
    ),
]
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"


class Waiting(NamedTuple):
    """One workload, and the objects that make it wait."""

    authority: str
    job: Object
    facts: list[Object]


def _job(name: str, gpus: int, *, queue: str = "", **spec: Any) -> Object:
    container = builders.container(limits={GPU: gpus}, requests={"cpu": "1", GPU: gpus})
    template = builders.template(container, restartPolicy="Never", **spec)
    labels = {"labels": {QUEUE_LABEL: queue}} if queue else {}
    job = builders.job(template, name=name, namespace=NAMESPACE, parallelism=1, completions=1, suspend=bool(queue))
    return {**job, "metadata": {**paths.metadata(job), **labels}}


def _queue(name: str, *, flavor: Object | None = None, resource: str = GPU, **spec: Any) -> list[Object]:
    """A ClusterQueue for 8 devices, with a flavor and a LocalQueue of its own."""
    own = flavor or queues.flavor(f"flavor-{name}")
    quotas = [queues.quota(8, resource=resource), queues.quota(64, resource="cpu")]
    group = queues.group((str(paths.metadata(own)["name"]), quotas))
    return [own, queues.cluster_queue(name, group, **spec), queues.local_queue(name)]


def _tainted(name: str) -> list[Object]:
    return _queue(name, flavor=queues.flavor(f"flavor-{name}", labels={"pool": "b"}, nodeTaints=[TAINT]))


def _labelled(name: str) -> list[Object]:
    return _queue(name, flavor=queues.flavor(f"flavor-{name}", labels={"pool": "a"}))


def _full(name: str) -> list[Object]:
    return [*_queue(name), _job(f"{name}-before", 6, queue=name)]


SPACES: Final = {"matchLabels": {"kubernetes.io/metadata.name": "other"}}
CASES: Final[dict[str, Waiting]] = {
    "larger than the queue": Waiting("Kueue", _job("never", 16, queue="small"), _queue("small")),
    "others have the quota": Waiting("Kueue", _job("later", 6, queue="full"), _full("full")),
    "a taint of the flavor": Waiting("Kueue", _job("untolerating", 1, queue="tainted"), _tainted("tainted")),
    "labels of the flavor": Waiting(
        "Kueue", _job("elsewhere", 1, queue="labelled", nodeSelector={"pool": "c"}), _labelled("labelled")
    ),
    "a resource without quota": Waiting(
        "Kueue", _job("without-quota", 1, queue="other-gpu"), _queue("other-gpu", resource="amd.com/gpu")
    ),
    "a stopped queue": Waiting("Kueue", _job("stopped", 1, queue="held"), _queue("held", stopPolicy="Hold")),
    "no LocalQueue": Waiting("Kueue", _job("lost", 1, queue="gone"), []),
    "no ClusterQueue": Waiting(
        "Kueue", _job("half-lost", 1, queue="dangling"), [queues.local_queue("dangling", "not-there")]
    ),
    "another namespace": Waiting(
        "Kueue", _job("outside", 1, queue="theirs"), _queue("theirs", namespaceSelector=SPACES)
    ),
    "no flavor": Waiting(
        "Kueue",
        _job("flavorless", 1, queue="unmade"),
        _queue("unmade")[1:],
    ),
    "a stopped LocalQueue": Waiting(
        "Kueue",
        _job("at-rest", 1, queue="resting"),
        [*_queue("resting")[:2], queues.local_queue("resting", stopPolicy="Hold")],
    ),
    "more than a node has": Waiting("nodes", _job("too-large", 16), []),
    "a taint of the node": Waiting("nodes", _job("repelled", 1, nodeSelector={"pool": "b"}), []),
    "labels of no node": Waiting("nodes", _job("unmatched", 1, nodeSelector={"pool": "c"}), []),
}


def _volcano_job(name: str, pods: int, gpus: int, *, queue: str = "large", **spec: Any) -> Object:
    container = builders.container(limits={GPU: gpus}, requests={"cpu": "1", GPU: gpus})
    template = builders.template(container, restartPolicy="Never", schedulerName="volcano", **spec)
    job = builders.volcano_job(builders.volcano_task(pod_template=template, replicas=pods), queue=queue)
    own = {**paths.mapping(job["spec"]), "minAvailable": pods, "schedulerName": "volcano"}
    return {**job, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": own}


VOLCANO_QUEUES: Final[list[Object]] = [
    queues.volcano_queue("small", state="", gpu=4),
    queues.volcano_queue("large", state=""),
]
VOLCANO: Final[dict[str, Waiting]] = {
    "more than the capability": Waiting("Volcano", _volcano_job("above-queue", 2, 4, queue="small"), []),
    "more than the nodes": Waiting("nodes", _volcano_job("above-nodes", 3, 8), []),
    "a taint of the node": Waiting("nodes", _volcano_job("repelled", 1, 1, nodeSelector={"pool": "b"}), []),
    "labels of no node": Waiting("nodes", _volcano_job("unmatched", 1, 1, nodeSelector={"pool": "c"}), []),
}
"""Jobs of Volcano in these queues, on the same nodes."""
