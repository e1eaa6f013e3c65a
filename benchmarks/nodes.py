"""Measures whether any of 50, 500 and 5,000 nodes could hold a pod, and the memory of their table."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial

import sections
import yardstick
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.places import Places
from usher.cluster.facts.nodes import NodeTable
from usher.config import sections as config_sections
from usher.workloads.normalise import normalise

ROUNDS = 9
NUMBERS = (50, 500, 5000)
VOCABULARY = Vocabulary(config_sections.Accelerators())

_POOLS = ("h100", "a100", "l40s", "cpu", "cpu-large")
_ZONES = "abc"


def main() -> None:
    sections.publish("nodes", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    lines = [
        "| nodes | classes | fits | never fits | fits by host name | table, KiB | node change, ms | rebuild, ms |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [_row(number) for number in NUMBERS]
    standard = statistics.median(yardstick.measured(yardstick.add_up) for _ in range(ROUNDS))
    note = (
        f"Ratios to the {yardstick.NAME}, which took {standard:.3f} ms of processor time; medians of {ROUNDS} rounds."
    )
    return [*lines, "", note]


def _row(number: int) -> str:
    values = [node(index) for index in range(number)]
    kept, table = _size(partial(_table, values))
    found = nodes_places.places_of_cluster(table.now, [], VOCABULARY)
    questions = [pod(8, "h100"), pod(16, "h100"), pod(8, "h100", host=f"node-{number // 5 * 5 - 5}")]
    ratios = [_ratio(partial(judge, question, found)) for question in questions]
    changed = [node(7, gpus=4), node(7)] * yardstick.REPETITIONS
    change = _median(partial(_put, table, changed)) / len(changed)
    anew = _median(partial(_table, values))
    cells = [number, len(table.now.classes), *(f"{ratio:.2f}" for ratio in ratios)]
    return "| " + " | ".join([*map(str, cells), f"{kept / 1024:.0f}", f"{change:.2f}", f"{anew:.1f}"]) + " |"


def node(index: int, *, gpus: int = 8) -> paths.Object:
    """A node of one of five pools in three zones, with the labels that clouds and operators write."""
    pool = _POOLS[index % len(_POOLS)]
    labels: paths.Object = {f"feature.node.kubernetes.io/cpu-{number}": "true" for number in range(30)}
    labels |= {
        "kubernetes.io/hostname": f"node-{index}",
        "topology.kubernetes.io/zone": _ZONES[index % len(_ZONES)],
        "topology.example.com/rack": f"rack-{index // 16}",
        "node.kubernetes.io/instance-type": pool,
        "nvidia.com/gpu.product": f"NVIDIA-{pool}",
    }
    taints: list[paths.Json] = []
    allocatable: paths.Object = {"cpu": "95500m", "memory": f"{2**30 - index % 97}Ki", "pods": "110"}
    if "cpu" not in pool:
        taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
        allocatable["nvidia.com/gpu"] = str(gpus)
    return {
        "metadata": {"name": f"node-{index}", "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": allocatable},
    }


def pod(gpus: int, pool: str, *, host: str = "") -> model.PodSet:
    selector: paths.Object = {"node.kubernetes.io/instance-type": pool}
    if host:
        selector["kubernetes.io/hostname"] = host
    spec: paths.Object = {
        "nodeSelector": selector,
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [{"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": gpus, "cpu": "32"}}}],
    }
    found = normalise(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}, vocabulary=VOCABULARY
    )
    assert found is not None
    return found.pod_sets[0]


def judge(question: model.PodSet, found: Places) -> nodes_judge.NodeVerdict:
    """The cost for a distinct pod, without remembered answers."""
    return nodes_judge.judge(nodes_places.demand_of_pod_set(question, VOCABULARY), found)


def _table(values: Iterable[paths.Object]) -> NodeTable:
    table = NodeTable()
    table.replace(values)
    return table


def _put(table: NodeTable, values: Iterable[paths.Object]) -> None:
    for value in values:
        table.put(value)


def _ratio(call: Callable[[], object]) -> float:
    """The median over all rounds of the ratio of a call to the yardstick."""
    return statistics.median(yardstick.measured(call) / yardstick.measured(yardstick.add_up) for _ in range(ROUNDS))


def _median(call: Callable[[], object]) -> float:
    """Milliseconds of processor time for one call."""
    return statistics.median(_once(call) for _ in range(ROUNDS))


def _once(call: Callable[[], object]) -> float:
    before = time.process_time()
    call()
    return (time.process_time() - before) * 1000


def _size(make: Callable[[], NodeTable]) -> tuple[int, NodeTable]:
    """Bytes that the table keeps in addition to its objects."""
    tracemalloc.start()
    try:
        made = make()
        return tracemalloc.get_traced_memory()[0], made
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
