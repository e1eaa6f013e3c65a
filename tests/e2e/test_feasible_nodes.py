"""The real scheduler places no pods that fit no node by usher's answer, and places all others on empty nodes."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

import builders
import generated_examples
from builders import expression, node_affinity, term, toleration
from e2e import pools
from e2e.cluster import Cluster, Object, condition, wait_until
from e2e.gpu_nodes import accelerator_node
from unit.workloads.normalised import VOCABULARY, pod_set
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.places import Places
from usher.authorities.verdict import Answer
from usher.cluster.facts.nodes import NodeTable

SEED: Final = 20260801
CASES: Final = 240 if generated_examples.are_thorough() else 80

OURS: Final = {"feasibility.example.com/nodes": "ours"}
GUARD: Final = {"key": "feasibility.example.com/nodes", "value": "ours", "effect": "NoSchedule"}
"""Keeps the pods of other tests off these nodes."""

GPU: Final = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
MIG: Final = {"key": "mig-enabled", "value": "true", "effect": "NoSchedule"}
SPOT: Final = {"key": "spot", "value": "true", "effect": "NoExecute"}
HOST: Final = "kubernetes.io/hostname"


def _nodes() -> Iterator[Object]:
    h100 = {"nvidia.com/gpu": "8", "rdma/ib": "8", "hugepages-2Mi": "4Gi"}
    for index, zone in enumerate("aab"):
        labels = {"product": "h100", "zone": zone}
        yield _node(f"feasible-h100-{index}", labels=labels, taints=[GPU], resources=h100)
    a100 = {"nvidia.com/gpu": "4", "cpu": "32", "memory": "256Gi"}
    for index in range(2):
        labels = {"product": "a100", "zone": "c", "disks": str(index + 1)}
        yield _node(f"feasible-a100-{index}", labels=labels, taints=[GPU, SPOT], resources=a100)
    slices = {"nvidia.com/mig-1g.10gb": "7", "nvidia.com/mig-3g.40gb": "2"}
    yield _node("feasible-mig-0", labels={"product": "mig", "zone": "a"}, taints=[MIG], resources=slices)
    yield _node("feasible-mi300x-0", labels={"product": "mi300x", "zone": "b"}, resources={"amd.com/gpu": "8"})
    small = {"cpu": "3500m", "memory": "16Gi", "pods": "4"}
    yield _node("feasible-small-0", labels={"zone": "b", "disks": "4"}, resources=small)


def _node(
    name: str, *, labels: Mapping[str, str], resources: Mapping[str, str], taints: Sequence[Mapping[str, str]] = ()
) -> Object:
    return accelerator_node(name, labels={**OURS, **labels}, taints=[GUARD, *taints], resources=resources)


NODES: Final = tuple(_nodes())


def generated(number: int, namespace: str) -> Object:
    """A pod, always the same for a number: right for some node, and then mostly changed in one or two respects."""
    choose = random.Random(SEED + number)
    node = choose.choice(NODES)
    limits = dict(_part_of(choose, node["status"]["allocatable"]))
    spec: dict[str, Any] = {
        "nodeSelector": dict(OURS),
        "tolerations": [toleration(taint["key"], operator="Exists") for taint in node["spec"]["taints"]],
    }
    for change in choose.sample(_CHANGES, choose.choice([0, 1, 1, 2])):
        change(choose, limits, spec)
    return builders.pod(
        builders.container(limits=limits), name=f"feasible-{number}", namespace=namespace, restartPolicy="Never", **spec
    )


def _part_of(choose: random.Random, amounts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Some of what a node has: all of it, half of it or a little."""
    # The API server takes no huge pages without cpu or memory.
    yield "cpu", "100m"
    for name, text in amounts.items():
        if name in ("pods", "ephemeral-storage") or choose.random() < 0.3:
            continue
        if name in ("cpu", "memory", "hugepages-2Mi"):
            little = {"cpu": "100m", "memory": "1Gi", "hugepages-2Mi": "2Mi"}[name]
            yield name, choose.choice([text, little, little])
        else:
            yield name, choose.choice([text, str(-(-int(text) // 2)), "1"])


def _more(choose: random.Random, limits: dict[str, Any], _spec: dict[str, Any]) -> None:
    name, text = choose.choice(
        [
            ("nvidia.com/gpu", "5"),
            ("nvidia.com/gpu", "9"),
            ("nvidia.com/mig-3g.40gb", "3"),
            ("amd.com/gpu", "9"),
            ("example.com/nothing", "1"),
            ("cpu", "3501m"),
            ("cpu", "97"),
            ("memory", "257Gi"),
            ("memory", "1025Gi"),
            ("hugepages-2Mi", "8Gi"),
        ]
    )
    limits[name] = text


def _init(choose: random.Random, _limits: dict[str, Any], spec: dict[str, Any]) -> None:
    spec["initContainers"] = [builders.container("load", limits={"cpu": choose.choice(["3", "32", "64", "128"])})]


def _less_tolerant(choose: random.Random, _limits: dict[str, Any], spec: dict[str, Any]) -> None:
    for each in spec["tolerations"][1:]:
        each.update(choose.choice([{"effect": "NoExecute"}, {"operator": "Equal", "value": "true"}]))


def _selecting(choose: random.Random, _limits: dict[str, Any], spec: dict[str, Any]) -> None:
    key, values = choose.choice([("zone", "abcd"), ("product", ["h100", "a100", "mig", "H100"]), ("absent", "x")])
    spec["nodeSelector"][key] = choose.choice(values)


def _with_affinity(choose: random.Random, _limits: dict[str, Any], spec: dict[str, Any]) -> None:
    spec["affinity"] = node_affinity(*(_term(choose) for _ in range(choose.choice([1, 1, 2]))))


_CHANGES: Final = (_more, _init, _less_tolerant, _selecting, _with_affinity, _with_affinity)


def _term(choose: random.Random) -> Object:
    return choose.choice(
        [
            term(expression("zone", "In", *choose.sample("abcd", 2))),
            term(expression("product", "NotIn", "h100"), expression("zone", "Exists")),
            term(expression("product", "DoesNotExist")),
            term(expression("disks", choose.choice(["Gt", "Lt"]), choose.choice(["1", "2", "4"]))),
            term(expression(HOST, "In", choose.choice(["feasible-h100-1", "feasible-a100-0", "feasible-gone"]))),
            term(expression(HOST, "NotIn", "feasible-h100-0", "feasible-h100-1")),
            term(fields=[expression("metadata.name", "In", choose.choice(["feasible-h100-2", "feasible-mig-0"]))]),
        ]
    )


@pytest.fixture
def empty_nodes(cluster: Cluster) -> Iterator[Places]:
    """The nodes with nothing on them, as usher reads them from the API server."""
    with pools.nodes(cluster, *NODES):
        table = NodeTable()
        table.replace(cluster.objects("Node"))
        yield nodes_places.places_of_cluster(table.now, [], VOCABULARY)


def scheduled(cluster: Cluster, namespace: str, names: Sequence[str]) -> dict[str, Object] | None:
    """The pods by name, once the scheduler has said something of each."""
    pods = {pod["metadata"]["name"]: pod for pod in cluster.objects("Pod", namespace=namespace)}
    seen = (name in pods and condition(pods[name], "PodScheduled").get("status") for name in names)
    return pods if all(seen) else None


def node_of(cluster: Cluster, pod: Object) -> str:
    """Where the scheduler puts a pod that has all nodes for itself; empty where it finds none."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    cluster.create(pod)
    tried = wait_until(
        lambda: scheduled(cluster, namespace, [name]), description=f"the scheduler has tried {name}", timeout=60
    )
    node: str = tried[name]["spec"].get("nodeName", "")
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    cluster.request("DELETE", path, query={"gracePeriodSeconds": "0"})
    return node


def test_the_scheduler_agrees_with_every_verdict(cluster: Cluster, namespace: str, empty_nodes: Places) -> None:
    pods = {pod["metadata"]["name"]: pod for pod in (generated(number, namespace) for number in range(CASES))}
    verdicts = {
        name: nodes_judge.judge(nodes_places.demand_of_pod_set(pod_set(pod), VOCABULARY), empty_nodes)
        for name, pod in pods.items()
    }
    never = [name for name, found in verdicts.items() if found.answer is Answer.NEVER]
    fitting = [name for name, found in verdicts.items() if found.answer is Answer.COULD]
    assert len(never) + len(fitting) == CASES
    assert min(len(never), len(fitting)) >= 20, "cases of both verdicts"

    for name in never:
        cluster.create(pods[name])
    waiting = wait_until(lambda: scheduled(cluster, namespace, never), description="the scheduler has tried every pod")
    placed = {name: waiting[name]["spec"]["nodeName"] for name in never if "nodeName" in waiting[name]["spec"]}
    assert placed == {}, "pods that were said to fit nowhere"
    assert {condition(waiting[name], "PodScheduled")["reason"] for name in never} == {"Unschedulable"}
    cluster.request("DELETE", f"/api/v1/namespaces/{namespace}/pods")

    nowhere = [name for name in fitting if not node_of(cluster, pods[name])]
    assert nowhere == [], "pods that were said to fit some node"
